import { runtimeClient } from '../../fixtures/lambda-gateway/runtime-client.ts';

/** `npm run conformance:prepare`: builds what the conformance run needs; exits 1 where this machine cannot. */
try {
  console.log(`Lambda's runtime client: ${runtimeClient()}`);
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
}
