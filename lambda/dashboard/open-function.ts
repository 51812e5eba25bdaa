import { Logger } from '@aws-lambda-powertools/logger';
import { openApiTokenUse } from '../data/accounts/api-tokens.ts';
import { openMembership } from '../data/accounts/membership.ts';
import { openRequestCounts } from '../data/accounts/request-counts.ts';
import { openTable } from '../data/table/table.ts';
import type { HttpStackOptions } from '../http/http-stack.ts';

/** Its log, its table, and who may call it from where and how often. Opening it reads nothing. */
export const openFunction = (
  serviceName: string,
  environment: {
    readonly TABLE_NAME: string;
    readonly CORS_ORIGINS: readonly string[];
    readonly USER_POOL_CLIENT_ID: string;
  },
) => {
  const logger = new Logger({ serviceName });
  const table = openTable(environment.TABLE_NAME);
  const options: HttpStackOptions = {
    logger,
    corsOrigins: environment.CORS_ORIGINS,
    membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
    tokenOwnerOf: openApiTokenUse(table, Date.now).ownerOf,
    countRequest: openRequestCounts(table, Date.now).count,
  };
  return { logger, table, options };
};
