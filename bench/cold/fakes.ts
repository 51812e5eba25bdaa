import { emulatorVariables } from '../../fixtures/emulator-client.ts';

/** Values for variables that refer to resources: well-formed, of nothing that exists. */
const fakes: Readonly<Record<string, string>> = {
  USAGE_QUEUE_URL: 'http://127.0.0.1:9/000000000000/usage',
  USER_POOL_ID: 'eu-central-1_Local0001',
  USER_POOL_CLIENT_ID: 'localclient0000000000000001',
};

/** The whole environment of a function that is only loaded, never invoked. */
export const environmentToLoad = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value ?? fakes[name] ?? `fake-of-${name}`]),
  ),
  ...emulatorVariables,
});
