import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypes from 'openapi-typescript';

/**
 * Writes the types of the API client, `src/api/schema.d.ts`, from docs/openapi.json. Every check generates
 * them, and git ignores them: they cannot go stale. The generator stays at version 6: version 7 needs the compiler API, which
 * TypeScript 7 does not have.
 */
const description: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../docs/openapi.json'), 'utf8'));
const types = await openapiTypes(description as Parameters<typeof openapiTypes>[0]);
writeFileSync(join(import.meta.dirname, 'src/api/schema.d.ts'), types);
