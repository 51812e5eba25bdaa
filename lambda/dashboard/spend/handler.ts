import { Logger } from '@aws-lambda-powertools/logger';
import { openApiTokenUse } from '../../data/accounts/api-tokens.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openMembership } from '../../data/accounts/membership.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openTrackingGaps } from '../../data/ledger/tracking-gaps.ts';
import { readInTime } from '../../data/spend/read-in-time.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import * as operations from './operations.ts';
import { readSpend } from './read-spend.ts';
import { renameReport, withProjects } from './with-projects.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const readCounters = readInTime(openSpend(table).read);
const { gaps: readTrackingGaps } = openTrackingGaps(table);
const { find: findDeclared } = openDeclaredDimensions(table);

const read = route(
  operations.readSpend,
  withProjects(
    { listKeys: openServiceKeys(table).list, readCounters },
    (counters) => readSpend({ readCounters: counters, readTrackingGaps, findDeclared, now: () => new Date() }),
    renameReport,
  ),
);

/** Everything under /api/spend, and the same for machines. */
export const handler = httpStack([read, { operation: operations.machineReadSpend, run: read.run }], {
  logger: new Logger({ serviceName: 'dashboard-spend' }),
  corsOrigins: environment.CORS_ORIGINS,
  membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
  tokenOwnerOf: openApiTokenUse(table, Date.now).ownerOf,
});
