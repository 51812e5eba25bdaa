import { Alert } from '@mantine/core';
import { useMe } from '../app.ts';
import { later } from '../components/later.tsx';
import { AnchorLink } from '../components/links.tsx';

const VerifyEmailForm = later(() => import('./verify-email-form.tsx'));

/** Pending step of the login: a review after a reset, or the code that verifies the address. */
export const VerifyEmail = () => {
  const { me } = useMe();
  if (me?.user.reviewSince)
    return (
      <Alert color="yellow" radius={0}>
        <b>Review recent keys.</b> Your password or address changed.{' '}
        <AnchorLink to="/review">Look through the keys made before</AnchorLink>.
      </Alert>
    );
  if (me === undefined || me.user.emailVerified) return null;
  return (
    <Alert color="yellow" radius={0}>
      <VerifyEmailForm address={me.user.email} />
    </Alert>
  );
};
