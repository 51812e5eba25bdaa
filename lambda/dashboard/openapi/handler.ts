import { Logger } from '@aws-lambda-powertools/logger';
import type { ApiEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { openApiDocument } from '../../http/openapi.ts';
import { route } from '../../http/operation.ts';
import { groups, operations } from '../operations.ts';
import { readOpenApi } from './operations.ts';

const environment = dashboardEnvironment.pick({ CORS_ORIGINS: true }).parse(process.env) satisfies Record<
  keyof ApiEnvironment,
  unknown
>;
const document = openApiDocument(operations, groups);

/** GET /api/openapi.json: made of the very schemas that the handlers parse with. */
export const handler = httpStack([route(readOpenApi, async () => document)], {
  logger: new Logger({ serviceName: 'dashboard-openapi' }),
  corsOrigins: environment.CORS_ORIGINS,
});
