import { Skeleton } from '@mantine/core';
import { useMe } from '../app.ts';
import { PageHead } from '../components/page-head.tsx';
import { Section } from '../components/section.tsx';
import { roleTexts } from '../members/roles.ts';
import { ChangeEmail } from './change-email.tsx';
import { ChangeName } from './change-name.tsx';
import { ChangePassword } from './change-password.tsx';
import { SecondFactor } from './second-factor.tsx';

/** The user's own login. */
export const Profile = () => {
  const { me } = useMe();
  return (
    <div className="page">
      <PageHead
        title="Your profile"
        about={me && `Your role is ${me.user.role}: ${roleTexts[me.user.role].toLowerCase()}.`}
      />
      {me ? (
        <>
          <Section title="Name">
            <ChangeName user={me.user} />
          </Section>
          <Section title="E-mail address" about="You sign in with it, and alerts go there.">
            <ChangeEmail user={me.user} />
          </Section>
          <Section title="Password" about="Every session ends, this one too.">
            <ChangePassword user={me.user} />
          </Section>
          <Section title="Second factor" about="A code of an authenticator app as well as the password.">
            <SecondFactor user={me.user} />
          </Section>
        </>
      ) : (
        <Skeleton height={420} radius="lg" />
      )}
    </div>
  );
};
