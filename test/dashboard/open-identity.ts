import { openIdentity } from '../../lambda/dashboard/auth/open-identity.ts';
import type { IdentityParts } from '../../lambda/dashboard/auth/open-parts.ts';
import { identityRoutes } from '../../lambda/dashboard/identity.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import type { HttpStackOptions } from '../../lambda/http/http-stack.ts';
import { APP_CLIENT_ID, serve, silentLogger } from '../http/invoke.ts';

const environment = (TABLE_NAME: string) => ({
  TABLE_NAME,
  CORS_ORIGINS: [],
  USER_POOL_ID: 'eu-west-1_Local0001',
  USER_POOL_CLIENT_ID: APP_CLIENT_ID,
  REGISTRATION: 'invite' as const,
  DELETION_GRACE_SECONDS: 7 * 86_400,
  SIGN_ON_ORIGIN: 'https://pool.example.com',
  SIGN_ON_PROVIDERS: {},
  DASHBOARD_URL: 'https://dashboard.example.com',
  MAIL_FROM: 'alerts@example.com',
  MAIL_CONFIGURATION_SET: 'mail',
});

type Replaced = Partial<Omit<IdentityParts, 'directory' | 'sessions'>> & {
  readonly [Part in 'directory' | 'sessions']?: Partial<IdentityParts[Part]>;
};

/**
 * Who may sign in and what they may do, as the function serves it, over the table.
 *
 * @param replaced takes the place of what calls the user pool, sends mail and tells the time
 */
export const identityApi = (table: Table, replaced: Replaced, options: Partial<HttpStackOptions> = {}) => {
  const opened = openIdentity(table, environment(table.name), silentLogger(), (parts) => ({
    ...parts,
    ...replaced,
    directory: { ...parts.directory, ...replaced.directory },
    sessions: { ...parts.sessions, ...replaced.sessions },
  }));
  return serve(identityRoutes(opened), options);
};
