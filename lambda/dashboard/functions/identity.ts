import { identityEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route, routes } from '../../http/operation.ts';
import * as accountDeletion from '../account/deletion.ts';
import * as account from '../account/operations.ts';
import { acceptInvitation } from '../auth/accept-invitation.ts';
import { type Identity, openIdentity } from '../auth/open-identity.ts';
import * as auth from '../auth/operations.ts';
import * as profile from '../auth/profile.ts';
import { recordSignIn } from '../auth/record-sign-in.ts';
import { register } from '../auth/register.ts';
import { resetPassword } from '../auth/reset-password.ts';
import * as review from '../auth/review.ts';
import * as sessions from '../auth/sessions.ts';
import { logIn } from '../auth/sessions.ts';
import * as totp from '../auth/totp.ts';
import * as verifyEmail from '../auth/verify-email.ts';
import * as invitations from '../members/invitations.ts';
import * as manageMembers from '../members/manage-members.ts';
import * as members from '../members/operations.ts';
import { openFunction } from '../open-function.ts';
import * as signOns from '../sign-on/operations.ts';
import { changeSignOnSettings, readSignOnSettings } from '../sign-on/settings.ts';
import { findSignOn, linkLogin, signOn } from '../sign-on/sign-on.ts';
import * as connect from '../tokens/connect-clients.ts';
import { redeemCode } from '../tokens/connect-clients.ts';
import { issueJwt } from '../tokens/issue-jwt.ts';
import * as manageTokens from '../tokens/manage-tokens.ts';
import * as tokens from '../tokens/operations.ts';

const environment = identityEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-identity', environment);
const opened = openIdentity(table, environment, logger);
const recorded = recordSignIn(opened);

/**
 * Serves registration, sign-in, members and API tokens. No other function of this API may touch the user pool. `me` verifies its token
 * itself: it has no authorizer.
 */
export const handler = httpStack(
  [
    ...routes(
      auth,
      {
        ...profile,
        ...review,
        ...sessions,
        ...totp,
        ...verifyEmail,
        acceptInvitation,
        resetPassword,
        register: (dependencies: Identity) => recorded('account.registered', register(dependencies)),
        logIn: (dependencies: Identity) => recorded('user.signed_in', logIn(dependencies)),
      },
      opened,
    ),
    ...routes(account, accountDeletion, opened),
    ...routes(members, { ...manageMembers, ...invitations }, opened),
    ...routes(tokens, { ...manageTokens, ...connect, issueJwt }, { ...opened, redeem: redeemCode(opened) }),
    route(signOns.findSignOn, findSignOn(opened.providers, opened.urlOf)),
    route(signOns.signOn, recorded('user.signed_in', signOn(opened))),
    route(signOns.linkLogin, recorded('user.signed_in', linkLogin(opened))),
    route(signOns.readSignOnSettings, readSignOnSettings(opened)),
    route(signOns.changeSignOnSettings, changeSignOnSettings(opened)),
  ],
  options,
);
