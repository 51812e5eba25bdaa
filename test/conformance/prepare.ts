import { z } from 'zod';
import { runtimeClient } from '../../fixtures/lambda-gateway/runtime-client.ts';
import { readOptions } from '../../ops/command.ts';

const USAGE = `npm run conformance:prepare

Builds Lambda's runtime client, which "npm run conformance" needs, once. This takes a minute or two. Exits 1 where this machine cannot.`;
readOptions({ usage: USAGE, schema: z.object({}) });

try {
  console.log(`Lambda's runtime client: ${runtimeClient()}`);
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
}
