import { PageHead } from '../components/page-head.tsx';
import { Section } from '../components/section.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { ExportData } from './export-data.tsx';
import { RequireTotp } from './require-totp.tsx';
import { SignOn } from './sign-on.tsx';

/** What holds for all members of the account. */
export const AccountSettings = () => (
  <div className="page">
    <PageHead title="Account settings" about="What holds for all members. Your own login is in your profile." />
    <Section title="Second factor" about="A code of an authenticator app as well as the password.">
      <RequireTotp />
    </Section>
    <Section title="Single sign-on" about="Members sign in at your company’s identity provider.">
      <SignOn />
    </Section>
    <Section title="Data" about="One file with all that the account has but secrets. It is there for seven days.">
      <ExportData />
    </Section>
    <Section title="Deletion" about="You can cancel it for seven days.">
      <DeleteAccount />
    </Section>
  </div>
);
