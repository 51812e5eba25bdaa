import { writeFileSync } from 'node:fs';
import { groups, operations } from '../lambda/dashboard/operations.ts';
import { openApiDocument } from '../lambda/http/openapi.ts';

/** `npm run openapi`: writes docs/openapi.json. A test fails while it is not what the schemas say. */
writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(operations, groups), null, 2)}\n`,
);
