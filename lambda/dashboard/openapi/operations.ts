import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';

const operation = inGroup('Meta');

export const readOpenApi = operation('readOpenApi', 'GET /openapi.json', {
  summary: 'Read this document',
  access: 'public',
  success: ok('OpenAPI 3.1.', z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })),
});
