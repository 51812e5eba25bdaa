/** Settings with everything filled in, for checks of what `npm run synth` does not make. Account and domains are nobody's. */

const everything = {
  account: '123456789012',
  region: 'eu-central-1',
  gatewayDomain: 'ai.acme.dev',
  dashboardDomain: 'spend.acme.dev',
  hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'acme.dev' },
  web: {
    name: 'app.acme.dev',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b-d9cb-469f-a165-70867728950e',
  },
  registration: 'invite',
  alarmMail: 'ops@acme.dev',
  traces: true,
  mailFrom: 'alerts@acme.dev',
  mail: { identity: 'create', cognito: true },
  corsOrigins: ['https://a.acme.dev', 'https://b.acme.dev'],
  billing: { prices: { STARTER: ['price_1'], PRO: ['price_2'] } },
  gateway: {
    provisionedConcurrency: 5,
    reservedConcurrency: 500,
    isolatedProviders: { openai: { reservedConcurrency: 100 } },
  },
};

/** Most hosts in containers, one of them in its own, one on Lambda. */
const inContainers = {
  ...everything,
  gateway: {
    compute: 'containers',
    availabilityZones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
    isolatedProviders: { openai: {}, groq: { compute: 'lambda', reservedConcurrency: 100 } },
  },
};

/** Context of the app, as in cdk.json. */
export const exampleContext = {
  stages: {
    staging: { ...everything, account: '111111111111' },
    prod: everything,
    containers: inContainers,
  },
  pipeline: {
    account: '222222222222',
    region: 'eu-central-1',
    connectionArn: 'arn:aws:codeconnections:eu-central-1:222222222222:connection/1',
    repository: 'acme/ai-spend',
    stages: ['staging', 'prod', 'containers'],
    canarySecrets: { staging: 'canary/staging' },
  },
  github: { repository: 'acme/ai-spend' },
};
