import * as z from 'zod/mini';
import { operation } from '../../http/operation.ts';

export const readOpenApi = operation({
  id: 'readOpenApi',
  method: 'GET',
  path: '/openapi.json',
  group: 'Meta',
  summary: 'Read this document',
  access: 'public',
  success: {
    status: 200,
    description: 'OpenAPI 3.1.',
    schema: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
  },
});
