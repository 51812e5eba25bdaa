import { openApiTokenUse } from '../data/accounts/api-tokens.ts';
import { openMembership } from '../data/accounts/membership.ts';
import { openRequestCounts } from '../data/accounts/request-counts.ts';
import type { Table } from '../data/table/table.ts';
import type { HttpStackOptions } from '../http/http-stack.ts';

/** What the stack of every function behind the authorizer needs: who may call, from where, how often. Opening it reads nothing. */
export const stackOptions = (
  logger: HttpStackOptions['logger'],
  table: Table,
  environment: { readonly CORS_ORIGINS: readonly string[]; readonly USER_POOL_CLIENT_ID: string },
): HttpStackOptions => ({
  logger,
  corsOrigins: environment.CORS_ORIGINS,
  membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
  tokenOwnerOf: openApiTokenUse(table, Date.now).ownerOf,
  countRequest: openRequestCounts(table, Date.now).count,
});
