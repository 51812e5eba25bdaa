import { Alert } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useApi } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';

const VerifyEmailForm = lazy(() => import('./verify-email-form.tsx'));

/** What the login waits for: a review after a reset, or the code that verifies the address. */
export const VerifyEmail = () => {
  const { data } = useApi().useQuery('get', '/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY });
  if (data?.user.reviewSince)
    return (
      <Alert color="yellow" radius={0}>
        <b>Review recent keys.</b> Your password or address changed.{' '}
        <AnchorLink to="/review">Look through the keys made before</AnchorLink>.
      </Alert>
    );
  if (data === undefined || data.user.emailVerified) return null;
  return (
    <Alert color="yellow" radius={0}>
      <Suspense>
        <VerifyEmailForm address={data.user.email} />
      </Suspense>
    </Alert>
  );
};
