import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { Router } from 'cognito-local/lib/server/Router.js';
import { createServer } from 'cognito-local/lib/server/server.js';
import type { AppClient } from 'cognito-local/lib/services/appClient.js';
import { DateClock } from 'cognito-local/lib/services/clock.js';
import { CognitoServiceFactoryImpl, USER_POOL_AWS_DEFAULTS } from 'cognito-local/lib/services/cognitoService.js';
import { MessageDeliveryService } from 'cognito-local/lib/services/messageDelivery/messageDelivery.js';
import { MessagesService } from 'cognito-local/lib/services/messages.js';
import { otp } from 'cognito-local/lib/services/otp.js';
import { JwtTokenGenerator, type TokenGenerator } from 'cognito-local/lib/services/tokenGenerator.js';
import { TriggersService } from 'cognito-local/lib/services/triggers/index.js';
import { UserPoolServiceFactoryImpl } from 'cognito-local/lib/services/userPoolService.js';
import type { CognitoWorkerData, UserPoolSeed } from './cognito.ts';
import { mailSender } from './cognito-mail.ts';
import { isUnsignedOnAws, missingOperations } from './cognito-operations.ts';
import { openSigningKey } from './cognito-signing-key.ts';
import { atomicDataStores } from './cognito-store.ts';
import { guardServers } from './guard.ts';
import { serveUntilStopped } from './worker.ts';

const { dataDir, issuerDomain, userPools, mailEndpoint, secretAccessKey } = workerData as CognitoWorkerData;
const signingKey = openSigningKey(join(dataDir, 'cognito-key.pem'));
guardServers({ secretAccessKey, isOpen: isUnsignedOnAws });

const MINUTES_PER_MONTH = 30 * 24 * 60;

// pino is cognito-local's dependency, not ours, and its server takes nothing else.
const fromCognitoLocal = createRequire(createRequire(import.meta.url).resolve('cognito-local'));
const logger = fromCognitoLocal('pino')({ level: 'warn' }, process.stdout);
const context = { logger };
// cognito-local signs with a key that its package publishes: whoever has it could be anybody.
Object.assign(fromCognitoLocal('./keys/cognitoLocal.private.json'), { pem: signingKey.pem });
Object.assign(fromCognitoLocal('./keys/cognitoLocal.public.json'), { jwk: signingKey.jwk });

const stores = atomicDataStores(join(dataDir, 'cognito'));
const poolDefaults = (pool: UserPoolSeed) => ({
  ...USER_POOL_AWS_DEFAULTS,
  Id: pool.id,
  UsernameAttributes: ['email'],
  AutoVerifiedAttributes: ['email'],
  SchemaAttributes: [
    ...(USER_POOL_AWS_DEFAULTS.SchemaAttributes ?? []),
    ...(pool.customAttributes ?? []).map((Name) => ({ Name, AttributeDataType: 'String', Mutable: true })),
  ],
});

// Files first: the service reads the pools it has from the folder when it is made.
const clients = await stores.create(context, 'clients', { Clients: {} });
for (const pool of userPools) {
  const store = await stores.create(context, pool.id, { Users: {}, Options: poolDefaults(pool) });
  await store.set(context, 'Options', poolDefaults(pool));
  for (const client of pool.clients) {
    const known = (await clients.get(context, ['Clients', client.id])) as AppClient | null;
    const appClient: AppClient = {
      UserPoolId: pool.id,
      ClientId: client.id,
      ClientName: client.name ?? client.id,
      ...(client.generatesSecret && { ClientSecret: known?.ClientSecret ?? randomBytes(32).toString('hex') }),
      ...(client.readAttributes && { ReadAttributes: [...client.readAttributes] }),
      CreationDate: new Date(),
      LastModifiedDate: new Date(),
      IdTokenValidity: client.idTokenValidityMinutes ?? 60,
      AccessTokenValidity: client.accessTokenValidityMinutes ?? 60,
      RefreshTokenValidity: client.refreshTokenValidityMinutes ?? MINUTES_PER_MONTH,
      TokenValidityUnits: { IdToken: 'minutes', AccessToken: 'minutes', RefreshToken: 'minutes' },
    };
    await clients.set(context, ['Clients', client.id], appClient);
  }
}

const clock = new DateClock();
const cognito = await new CognitoServiceFactoryImpl(
  join(dataDir, 'cognito'),
  stores,
  new UserPoolServiceFactoryImpl(clock, stores),
).create(context, { UsernameAttributes: ['email'] });
const noTriggers = { enabled: () => false, invoke: () => Promise.reject(new Error('No triggers here.')) };
// The last argument encrypts codes for a custom e-mail trigger, of which there is none; loading it would load the AWS SDK v2.
const triggers = new TriggersService(clock, cognito, noTriggers, undefined as never);
const config = {
  LambdaClient: {},
  TriggerFunctions: {},
  UserPoolDefaults: { UsernameAttributes: ['email'] },
  TokenConfig: { IssuerDomain: issuerDomain },
  ServerConfig: { port: 0, hostname: '127.0.0.1', development: false, https: false as const },
};
/** Tokens have the attributes that their client may read. */
const readableAttributesOnly = (generator: JwtTokenGenerator): TokenGenerator => ({
  generate: (of, user, groups, client, ...rest) => {
    const isReadable = ({ Name }: { Name: string }) =>
      !Name.startsWith('custom:') || client.ReadAttributes === undefined || client.ReadAttributes.includes(Name);
    const Attributes = user.Attributes.filter(isReadable);
    return generator.generate(of, { ...user, Attributes }, groups, client, ...rest);
  },
});
const services = {
  clock,
  cognito,
  config,
  messages: new MessagesService(triggers, new MessageDeliveryService(mailSender(mailEndpoint, secretAccessKey))),
  otp,
  tokenGenerator: readableAttributesOnly(new JwtTokenGenerator(clock, triggers, config.TokenConfig)),
  triggers,
};
const route = Router(services);
const routeAll = missingOperations(services, route, signingKey);
const server = await createServer(routeAll, logger, config.ServerConfig, services).start();
await serveUntilStopped((server.address() as AddressInfo).port, async () => {
  server.close();
  server.closeAllConnections();
});
