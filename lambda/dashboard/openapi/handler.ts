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
 * GET /api/openapi.json: the file that `npm run openapi` generates from the schemas of the handlers; a test compares the two.
 * Generating it at start took half of this function's cold start.
 */
export const handler = httpStack([route(readOpenApi, async () => document)], {
  logger: new Logger({ serviceName: 'dashboard-openapi' }),
  corsOrigins: environment.CORS_ORIGINS,
  // Public: no caller to look up.
  membershipOf: async () => undefined,
});
