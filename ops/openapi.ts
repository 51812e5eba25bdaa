import { readFileSync, writeFileSync } from 'node:fs';
import { groups, operations } from '../lambda/dashboard/operations.ts';
import { openApiDocument } from '../lambda/http/openapi.ts';
import { withRightsMatrix } from './rights-matrix.ts';

/** `npm run openapi`: writes docs/openapi.json, and the matrix of rights in docs/security.md. A test fails while they are not what the operations say. */
writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(operations, groups), null, 2)}\n`,
);

const security = new URL('../docs/security.md', import.meta.url);
writeFileSync(security, withRightsMatrix(readFileSync(security, 'utf8')));
