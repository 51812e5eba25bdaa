import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import document from '../../../docs/openapi.json' with { type: 'json' };
import type { ApiEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { readOpenApi } from './operations.ts';

const environment = z.pick(dashboardEnvironment, { CORS_ORIGINS: true }).parse(process.env) satisfies Record<
  keyof ApiEnvironment,
  unknown
>;

/**
 * GET /api/openapi.json: as `npm run openapi` makes it of the very schemas that the handlers parse with, and as a test holds it
 * against them. To make it anew in each process was half of this function's start.
 */
export const handler = httpStack([route(readOpenApi, async () => document)], {
  logger: new Logger({ serviceName: 'dashboard-openapi' }),
  corsOrigins: environment.CORS_ORIGINS,
  // Public: nobody is looked up.
  accountOf: async () => undefined,
});
