import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import { openAccountDeletions } from '../../data/accounts/account-deletions.ts';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openAddressCodes } from '../../data/accounts/address-codes.ts';
import { openApiTokens, openApiTokenUse } from '../../data/accounts/api-tokens.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openMembers } from '../../data/accounts/members.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openSignOns } from '../../data/accounts/sign-ons.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import { newApiToken, newCode } from '../../domain/accounts/issued-secret.ts';
import { SIGN_ON_CALLBACK } from '../../domain/accounts/sign-on.ts';
import { identityEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route, routes } from '../../http/operation.ts';
import { authenticator } from '../../integrations/authenticate.ts';
import { appClient } from '../../integrations/cognito.ts';
import { identityLinker } from '../../integrations/link-identity.ts';
import { openMail } from '../../integrations/mail.ts';
import { authorizeUrl, codeExchange, linkTokenReader } from '../../integrations/sign-on.ts';
import { tokenVerifier } from '../../integrations/token-verifier.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { userTotp } from '../../integrations/user-totp.ts';
import * as accountDeletion from '../account/deletion.ts';
import * as account from '../account/operations.ts';
import { acceptInvitation } from '../auth/accept-invitation.ts';
import { endSessions } from '../auth/end-sessions.ts';
import { freeAddress } from '../auth/free-address.ts';
import * as auth from '../auth/operations.ts';
import { changeAccount, changeEmail, changeName, changePassword, me } from '../auth/profile.ts';
import { noteChange, recordSignIn } from '../auth/record-sign-in.ts';
import { register } from '../auth/register.ts';
import { resetPassword } from '../auth/reset-password.ts';
import { finishReview, readReview } from '../auth/review.ts';
import { forgotPassword, logIn, logOut, refresh } from '../auth/sessions.ts';
import { beginTotp, confirmTotp, removeTotp } from '../auth/totp.ts';
import { sendCode, sendVerificationCode, verifyEmail } from '../auth/verify-email.ts';
import * as invitations from '../members/invitations.ts';
import * as manageMembers from '../members/manage-members.ts';
import * as members from '../members/operations.ts';
import { openFunction } from '../open-function.ts';
import * as signOns from '../sign-on/operations.ts';
import { changeSignOnSettings, readSignOnSettings } from '../sign-on/settings.ts';
import { findSignOn, linkLogin, signOn } from '../sign-on/sign-on.ts';
import * as connect from '../tokens/connect-clients.ts';
import { issueJwt } from '../tokens/issue-jwt.ts';
import { createToken, listTokens, removeToken } from '../tokens/manage-tokens.ts';
import * as tokens from '../tokens/operations.ts';

const environment = identityEnvironment.parse(process.env);
const { USER_POOL_ID, USER_POOL_CLIENT_ID, DASHBOARD_URL } = environment;
const { logger, table, options } = openFunction('dashboard-identity', environment);

const cognito = cognitoClient();
const client = appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID);
const verifyToken = tokenVerifier(USER_POOL_ID, USER_POOL_CLIENT_ID, environment.USER_POOL_JWKS_URI);
const now = () => new Date();
const clock = { nowMs: () => performance.now(), pause };
const opened = {
  accounts: openAccounts(table),
  audit: openAuditLog(table),
  members: openMembers(table),
  users: openUsers(table),
  projects: openProjects(table),
  directory: userDirectory(cognito, USER_POOL_ID),
  sessions: userSessions(cognito, USER_POOL_ID, client),
  sendMail: openMail(environment),
  dashboardUrl: DASHBOARD_URL,
  registration: environment.REGISTRATION,
  clock,
  now,
  logger,
};
const codes = openAddressCodes(table);
const mailCode = sendCode({ ...opened, codes, randomInt: (max) => randomInt(max) });
const recorded = recordSignIn(opened);
const shared = {
  ...opened,
  freeAddress: freeAddress({ ...opened, newId: randomUUID }),
  sendCode: mailCode,
  endSessions: endSessions(opened),
  noteChange: noteChange(opened),
};
const totp = { ...shared, totp: userTotp(cognito, USER_POOL_ID, authenticator(cognito, USER_POOL_ID, client)) };
const deletion = {
  ...opened,
  deletions: openAccountDeletions(table),
  graceSeconds: environment.DELETION_GRACE_SECONDS,
};
const membership = {
  ...opened,
  keys: openServiceKeys(table),
  tokens: openApiTokens(table),
  randomBytes,
  newKeyId: uuidv7,
};
const apiTokens = {
  ...opened,
  tokens: openApiTokens(table),
  newApiToken: () => newApiToken(randomBytes),
  newTokenId: uuidv7,
};
const providers = { ...shared, providers: environment.SIGN_ON_PROVIDERS, signOns: openSignOns(table) };
const endpoint = {
  origin: environment.SIGN_ON_ORIGIN,
  redirectUri: `${DASHBOARD_URL}${SIGN_ON_CALLBACK}`,
  clientId: USER_POOL_CLIENT_ID,
  clientSecret: client.secret,
};

/**
 * Serves registration, sign-in, members and API tokens. No other function of this API may touch the user pool. `me` verifies its token
 * itself: it has no authorizer.
 */
export const handler = httpStack(
  [
    route(
      auth.register,
      recorded(
        'account.registered',
        register({
          ...shared,
          newAccountId: uuidv7,
          newAccountKey: () => newAccountKey(randomBytes),
          newKeyId: uuidv7,
        }),
      ),
    ),
    route(auth.logIn, recorded('user.signed_in', logIn(shared))),
    route(auth.refresh, refresh(shared)),
    route(auth.logOut, logOut(shared)),
    route(auth.forgotPassword, forgotPassword(shared)),
    route(auth.resetPassword, resetPassword(shared)),
    route(auth.acceptInvitation, acceptInvitation(shared)),
    route(auth.sendVerificationCode, sendVerificationCode(shared)),
    route(auth.verifyEmail, verifyEmail({ ...shared, codes })),
    route(auth.beginTotp, beginTotp(totp)),
    route(auth.confirmTotp, confirmTotp(totp)),
    route(auth.removeTotp, removeTotp(totp)),
    route(auth.changeName, changeName(shared)),
    route(auth.changeEmail, changeEmail(shared)),
    route(auth.changePassword, changePassword(shared)),
    route(auth.changeAccount, changeAccount(shared)),
    route(auth.readReview, readReview({ ...apiTokens, keys: membership.keys })),
    route(auth.finishReview, finishReview(shared)),
    route(auth.me, me({ ...shared, verifyToken })),
    ...routes(account, accountDeletion, deletion),
    ...routes(members, { ...manageMembers, ...invitations }, membership),
    route(tokens.listTokens, listTokens(apiTokens)),
    route(tokens.createToken, createToken(apiTokens)),
    route(tokens.removeToken, removeToken(apiTokens)),
    route(tokens.readProtectedResource, connect.readProtectedResource()),
    route(tokens.readAuthorizationServer, connect.readAuthorizationServer(DASHBOARD_URL)),
    route(tokens.registerClient, connect.registerClient()),
    route(tokens.authorizeClient, connect.authorizeClient({ ...apiTokens, newCode: () => newCode(randomBytes) })),
    route(
      tokens.issueJwt,
      issueJwt({ ...opened, use: openApiTokenUse(table, Date.now), redeem: connect.redeemCode(apiTokens) }),
    ),
    route(
      signOns.findSignOn,
      findSignOn(environment.SIGN_ON_PROVIDERS, (provider) => authorizeUrl(endpoint, provider)),
    ),
    route(signOns.signOn, recorded('user.signed_in', signOn({ ...providers, exchange: codeExchange(endpoint) }))),
    route(
      signOns.linkLogin,
      recorded(
        'user.signed_in',
        linkLogin({
          ...providers,
          readLinkToken: linkTokenReader(verifyToken),
          linkIdentity: identityLinker(cognito, USER_POOL_ID),
        }),
      ),
    ),
    route(signOns.readSignOnSettings, readSignOnSettings(providers)),
    route(signOns.changeSignOnSettings, changeSignOnSettings(providers)),
  ],
  options,
);
