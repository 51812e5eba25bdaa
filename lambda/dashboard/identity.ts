import { routes } from '../http/operation.ts';
import * as accountDeletion from './account/deletion.ts';
import * as account from './account/operations.ts';
import { acceptInvitation } from './auth/accept-invitation.ts';
import type { Identity } from './auth/open-identity.ts';
import * as auth from './auth/operations.ts';
import * as profile from './auth/profile.ts';
import { register } from './auth/register.ts';
import * as resetPassword from './auth/reset-password.ts';
import * as sessions from './auth/sessions.ts';
import { logIn } from './auth/sessions.ts';
import { recordSignIn } from './auth/steps.ts';
import * as totp from './auth/totp.ts';
import * as verifyEmail from './auth/verify-email.ts';
import * as invitations from './members/invitations.ts';
import * as manageMembers from './members/manage-members.ts';
import * as members from './members/operations.ts';
import * as signOnOperations from './sign-on/operations.ts';
import * as signOnSettings from './sign-on/settings.ts';
import * as signOns from './sign-on/sign-on.ts';
import { linkLogin, signOn } from './sign-on/sign-on.ts';
import * as connect from './tokens/connect-clients.ts';
import { issueJwt } from './tokens/issue-jwt.ts';
import * as manageTokens from './tokens/manage-tokens.ts';
import * as tokens from './tokens/operations.ts';

/** Registration, sign-in, members and API tokens. */
export const identityRoutes = (opened: Identity) => {
  const recorded = recordSignIn(opened);
  return [
    ...routes(
      auth,
      {
        ...profile,
        ...resetPassword,
        ...sessions,
        ...totp,
        ...verifyEmail,
        acceptInvitation,
        register: (dependencies: Identity) => recorded('account.registered', register(dependencies)),
        logIn: (dependencies: Identity) => recorded('user.signed_in', logIn(dependencies)),
      },
      opened,
    ),
    ...routes(account, accountDeletion, opened),
    ...routes(members, { ...manageMembers, ...invitations }, opened),
    ...routes(tokens, { ...manageTokens, ...connect, issueJwt }, opened),
    ...routes(
      signOnOperations,
      {
        ...signOnSettings,
        ...signOns,
        signOn: (dependencies: Identity) => recorded('user.signed_in', signOn(dependencies)),
        linkLogin: (dependencies: Identity) => recorded('user.signed_in', linkLogin(dependencies)),
      },
      opened,
    ),
  ];
};
