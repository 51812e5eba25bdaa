import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { groups, operations } from '../lambda/dashboard/operations.ts';
import { openApiDocument } from '../lambda/http/openapi.ts';
import { readOptions } from './command.ts';
import { withRightsMatrix } from './rights-matrix.ts';

const USAGE = `npm run openapi

Writes docs/openapi.json, and the table of permissions in docs/security.md, from the operations in lambda/dashboard.`;
readOptions({ usage: USAGE, schema: z.object({}) });

writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(operations, groups), null, 2)}\n`,
);

const security = new URL('../docs/security.md', import.meta.url);
writeFileSync(security, withRightsMatrix(readFileSync(security, 'utf8')));
