import { tmpdir } from 'node:os';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { LOCAL_REGION, startCognito } from '../../local/emulators/cognito.ts';
import { startSes } from '../../local/emulators/ses.ts';

const POOL = {
  id: `${LOCAL_REGION}_Local0001`,
  clients: [{ id: 'localclient0000000000000001', generatesSecret: true, properties: { ReadAttributes: ['email'] } }],
  customAttributes: ['custom:accountId'],
};

/** Emulators of what the deployed entries call, and the environment that leads there: import an entry after it. */
export const startDeployed = async () => {
  const [table, mail] = [await emulatedTable(), await startSes()];
  const cognito = await startCognito({ dataDir: tmpdir(), userPools: [POOL], mailEndpoint: mail.endpoint });
  Object.assign(process.env, {
    ...emulatorVariables,
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_SES: mail.endpoint,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: cognito.endpoint,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    TABLE_NAME: table.name,
    CORS_ORIGINS: '',
    USER_POOL_ID: cognito.userPoolId,
    USER_POOL_CLIENT_ID: cognito.clientId,
    USER_POOL_JWKS_URI: cognito.jwksUri,
    REGISTRATION: 'open',
    DASHBOARD_URL: 'https://app.example.com',
    DELETION_GRACE_SECONDS: '60',
    SIGN_ON_ORIGIN: '',
    SIGN_ON_PROVIDERS: '{}',
    MAIL_FROM: 'alerts@example.com',
    MAIL_CONFIGURATION_SET: 'mail',
    WEBHOOK_TARGETS: '{"ports":[],"internalHosts":[]}',
    OBJECT_BUCKET: 'objects',
  });
  const stop = () => Promise.all([table.stop(), cognito.stop(), mail.stop()]);
  return { table, mail, cognito, stop };
};
