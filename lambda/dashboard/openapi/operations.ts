import * as z from 'zod/mini';
import { inGroup } from '../../http/operation.ts';

const operation = inGroup('Meta');

export const readOpenApi = operation('readOpenApi', 'GET /openapi.json', {
  summary: 'Read this document',
  access: 'public',
  success: {
    status: 200,
    description: 'OpenAPI 3.1.',
    schema: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
  },
});
