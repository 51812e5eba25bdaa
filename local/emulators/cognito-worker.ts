import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { Router } from 'cognito-local/lib/server/Router.js';
import { createServer } from 'cognito-local/lib/server/server.js';
import type { AppClient } from 'cognito-local/lib/services/appClient.js';
import { DateClock } from 'cognito-local/lib/services/clock.js';
import { CognitoServiceFactoryImpl, USER_POOL_AWS_DEFAULTS } from 'cognito-local/lib/services/cognitoService.js';
import { StormDBDataStoreFactory } from 'cognito-local/lib/services/dataStore/stormDb.js';
import { MessageDeliveryService } from 'cognito-local/lib/services/messageDelivery/messageDelivery.js';
import type { MessageSender } from 'cognito-local/lib/services/messageDelivery/messageSender.js';
import { MessagesService } from 'cognito-local/lib/services/messages.js';
import { otp } from 'cognito-local/lib/services/otp.js';
import { JwtTokenGenerator, type TokenGenerator } from 'cognito-local/lib/services/tokenGenerator.js';
import { TriggersService } from 'cognito-local/lib/services/triggers/index.js';
import { UserPoolServiceFactoryImpl } from 'cognito-local/lib/services/userPoolService.js';
import { writeFileAtomically } from './atomic-file.ts';
import { type CognitoWorkerData, LOCAL_REGION, type UserPoolSeed } from './cognito.ts';
import { isUnsignedOnAws, missingOperations, openSigningKey } from './cognito-operations.ts';
import { guardServers } from './guard.ts';
import { serveHere } from './worker.ts';

const FROM = 'no-reply@verificationemail.com';

/**
 * Delivers Cognito's mail (confirmation codes) to the SES emulator's inbox, where a person finds it. Without an inbox it
 * goes to the log.
 */
const mailSender = (mailEndpoint: string | undefined, secretAccessKey: string): MessageSender => ({
  async sendEmail(context, _user, destination, message) {
    const subject = message.emailSubject ?? 'Your confirmation code';
    const text = message.emailMessage ?? `Your confirmation code is ${message.__code ?? ''}`;
    if (!mailEndpoint) {
      context.logger.warn(`Mail to ${destination}: ${text}`);
      return;
    }
    const { SESClient, SendEmailCommand } = await import('@aws-sdk/client-ses');
    const credentials = { accessKeyId: 'cognito', secretAccessKey };
    const ses = new SESClient({ endpoint: mailEndpoint, region: LOCAL_REGION, credentials });
    await ses.send(
      new SendEmailCommand({
        Source: FROM,
        Destination: { ToAddresses: [destination] },
        Message: { Subject: { Data: subject }, Body: { Text: { Data: text } } },
      }),
    );
    ses.destroy();
  },
  async sendSms(context, _user, destination) {
    context.logger.warn(`No SMS is sent locally (to ${destination}).`);
  },
});

const { dataDir, issuerDomain, userPools, mailEndpoint, secretAccessKey } = workerData as CognitoWorkerData;
const signingKey = openSigningKey(join(dataDir, 'cognito-key.pem'));
guardServers({ secretAccessKey, isOpen: isUnsignedOnAws });

/** Hours, and days. */
const DEFAULT_VALIDITY = { IdTokenValidity: 1, AccessTokenValidity: 1, RefreshTokenValidity: 30 };

// pino is cognito-local's dependency, not ours, and its server takes nothing else.
const fromCognitoLocal = createRequire(createRequire(import.meta.url).resolve('cognito-local'));
const logger = fromCognitoLocal('pino')({ level: 'warn' }, process.stdout);
const context = { logger };
// cognito-local signs with a key that its package publishes: whoever has it could be anybody.
Object.assign(fromCognitoLocal('./keys/cognitoLocal.private.json'), { pem: signingKey.pem });
Object.assign(fromCognitoLocal('./keys/cognitoLocal.public.json'), { jwk: signingKey.jwk });

interface FileEngine {
  readonly path: string;
  readonly serialize: (data: object) => string;
}
// Its storage truncates a file first: a kill at the wrong moment would lose every user.
fromCognitoLocal('stormdb').localFileEngine.prototype.write = function (this: FileEngine, data: object) {
  writeFileAtomically(this.path, this.serialize(data));
};
const stores = new StormDBDataStoreFactory(join(dataDir, 'cognito'));
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
      ClientName: client.id,
      ...(client.generatesSecret && { ClientSecret: known?.ClientSecret ?? randomBytes(32).toString('hex') }),
      CreationDate: new Date(),
      LastModifiedDate: new Date(),
      ...DEFAULT_VALIDITY,
      ...client.properties,
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
await serveHere(server);
