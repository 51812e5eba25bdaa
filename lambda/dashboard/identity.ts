import { routes } from '../http/operation.ts';
import { manageDeletion } from './account/deletion.ts';
import * as account from './account/operations.ts';
import { acceptInvitation } from './auth/accept-invitation.ts';
import type { Identity } from './auth/open-identity.ts';
import * as auth from './auth/operations.ts';
import { manageProfile } from './auth/profile.ts';
import { register } from './auth/register.ts';
import { recoverLogin } from './auth/reset-password.ts';
import { manageSessions } from './auth/sessions.ts';
import { recordSignIn } from './auth/steps.ts';
import { manageTotp } from './auth/totp.ts';
import { verifyAddress } from './auth/verify-email.ts';
import { manageInvitations } from './members/invitations.ts';
import { manageMembers } from './members/manage-members.ts';
import * as members from './members/operations.ts';
import * as signOns from './sign-on/operations.ts';
import { manageSignOn } from './sign-on/settings.ts';
import { findSignOn, linkLogin, signOn } from './sign-on/sign-on.ts';
import { connectClients } from './tokens/connect-clients.ts';
import { issueJwt } from './tokens/issue-jwt.ts';
import { manageTokens } from './tokens/manage-tokens.ts';
import * as tokens from './tokens/operations.ts';

/** Registration, sign-in, members and API tokens. */
export const identityRoutes = (opened: Identity) => {
  const recorded = recordSignIn(opened);
  const sessions = manageSessions(opened);
  return [
    ...routes(auth, {
      ...manageProfile(opened),
      ...recoverLogin(opened),
      ...sessions,
      ...manageTotp(opened),
      ...verifyAddress(opened),
      acceptInvitation: acceptInvitation(opened),
      register: recorded('account.registered', register(opened)),
      logIn: recorded('user.signed_in', sessions.logIn),
    }),
    ...routes(account, manageDeletion(opened)),
    ...routes(members, { ...manageMembers(opened), ...manageInvitations(opened) }),
    ...routes(tokens, { ...manageTokens(opened), ...connectClients(opened), issueJwt: issueJwt(opened) }),
    ...routes(signOns, {
      ...manageSignOn(opened),
      findSignOn: findSignOn(opened),
      signOn: recorded('user.signed_in', signOn(opened)),
      linkLogin: recorded('user.signed_in', linkLogin(opened)),
    }),
  ];
};
