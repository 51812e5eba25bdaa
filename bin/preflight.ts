import { spawnSync } from 'node:child_process';
import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { CloudFormationClient, DescribeStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetIdentityVerificationAttributesCommand, GetSendQuotaCommand, SESClient } from '@aws-sdk/client-ses';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import { ignoring } from '../lambda/domain/errors.ts';
import type { StageSettings } from '../lib/config.ts';
import { domainOf, hostGroups, usesCompute } from '../lib/stage-settings.ts';

interface Quota {
  readonly ServiceCode: string;
  readonly QuotaCode: string;
}

/** Concurrent executions of all functions of an account and region; new accounts may have 10. */
const CONCURRENCY: Quota = { ServiceCode: 'lambda', QuotaCode: 'L-B99A9384' };
/** Processors of running tasks; new accounts may have 6. */
const TASK_PROCESSORS: Quota = { ServiceCode: 'fargate', QuotaCode: 'L-3032A538' };

/** Requests a second to all APIs of an account and region: 10,000, and 2,500 in 13 regions. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const API_REQUESTS: Quota = { ServiceCode: 'apigateway', QuotaCode: 'L-8A5B8E43' };
/** Write units a second of each table: 40,000. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Limits.html */
const TABLE_WRITES: Quota = { ServiceCode: 'dynamodb', QuotaCode: 'L-AB614373' };

/** Lambda keeps this much for functions without a reservation. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
const UNRESERVED_MIN = 100;
/** A request holds a function for as long as its response takes: see docs/cost-and-scale.md. */
const CHAT_SECONDS = 2;
/** In the sandbox, which is where SES keeps an account until AWS lets it out. */
const SANDBOX_MAILS_PER_DAY = 200;

/** Reads with the role that `cdk bootstrap` made for look-ups, which a pipeline may take, too; or as whoever runs this. */
const readerOf = (account: string, region: string) => {
  const lookUp = fromTemporaryCredentials({
    params: {
      RoleArn: `arn:aws:iam::${account}:role/cdk-hnb659fds-lookup-role-${account}-${region}`,
      RoleSessionName: 'ai-spend-preflight',
    },
    clientConfig: { region },
  });
  return async () => lookUp().catch(() => fromNodeProviderChain()());
};

/** CloudFront takes certificates of this region alone. */
const CLOUDFRONT_REGION = 'us-east-1';

/** Reads the account. Each rejects where it cannot be read. */
const awsAccount = ({ account = '', region = '' }: StageSettings) => {
  const options = { region, credentials: readerOf(account, region), maxAttempts: 2 };
  return {
    /** Returns the account that the credentials are of. */
    id: async () => (await new STSClient(options).send(new GetCallerIdentityCommand({}))).Account,

    /** Rejects with ParameterNotFound where `cdk bootstrap` never ran. */
    bootstrapVersion: async () => {
      const command = new GetParameterCommand({ Name: '/cdk-bootstrap/hnb659fds/version' });
      return (await new SSMClient(options).send(command)).Parameter?.Value;
    },

    /** Returns the name of a hosted zone, which ends with a dot. Rejects with NoSuchHostedZone. */
    zoneName: async (Id: string) =>
      (await new Route53Client(options).send(new GetHostedZoneCommand({ Id }))).HostedZone?.Name,

    /** Reads a certificate for CloudFront. Rejects with ResourceNotFoundException. */
    certificate: async (CertificateArn: string) => {
      const acm = new ACMClient({ ...options, region: CLOUDFRONT_REGION });
      const { Certificate } = await acm.send(new DescribeCertificateCommand({ CertificateArn }));
      return { status: Certificate?.Status ?? 'unknown', names: Certificate?.SubjectAlternativeNames ?? [] };
    },

    /** The types of the resources that a stack has, at most a hundred. None without the stack. */
    resourceTypes: async (StackName: string) => {
      const command = new DescribeStackResourcesCommand({ StackName });
      // CloudFormation has no error of its own for a stack that is not there.
      const found = await new CloudFormationClient(options).send(command).catch(ignoring('ValidationError'));
      // Those that a change took out, and that stay, are listed as DELETE_SKIPPED for a while.
      return (found?.StackResources ?? []).flatMap(({ ResourceType, ResourceStatus }) =>
        ResourceStatus?.startsWith('DELETE_') ? [] : [String(ResourceType)],
      );
    },

    quota: async (quota: Quota) =>
      (await new ServiceQuotasClient(options).send(new GetServiceQuotaCommand(quota))).Quota?.Value,

    /** Reads a mail address's and its domain's. What SES does not know is missing. */
    identities: async (names: readonly string[]) => {
      const command = new GetIdentityVerificationAttributesCommand({ Identities: [...names] });
      return (await new SESClient(options).send(command)).VerificationAttributes ?? {};
    },

    mailsPerDay: async () => (await new SESClient(options).send(new GetSendQuotaCommand({}))).Max24HourSend,
  };
};

export type Account = ReturnType<typeof awsAccount>;

/** Returns whose credentials these are, and the region of AWS's environment; undefined where there is none, or AWS accepts none. */
export const credentialsOwner = async () => {
  const region = await new STSClient().config.region().catch(() => undefined);
  // Any region knows whose they are.
  const client = new STSClient({ region: region ?? 'us-east-1', maxAttempts: 2 });
  const caller = await client.send(new GetCallerIdentityCommand({})).catch(() => undefined);
  return { account: caller?.Account, region };
};

export interface Preflight {
  /** Why the deployment would fail, one sentence each with what to do. */
  readonly refusals: readonly string[];
  /** Settings that could not be checked, or would not work. */
  readonly remarks: readonly string[];
}

const FINE: Preflight = { refusals: [], remarks: [] };
const refusing = (refusal: string): Preflight => ({ refusals: [refusal], remarks: [] });
const remarking = (remark: string): Preflight => ({ refusals: [], remarks: [remark] });

/** CDK builds the container's image with this program. */
const checkDocker = ({ name, gateway }: StageSettings): Preflight => {
  const docker = process.env['CDK_DOCKER'] ?? 'docker';
  if (!usesCompute(gateway, 'containers') || spawnSync(docker, ['--version'], { stdio: 'ignore' }).status === 0)
    return FINE;
  return refusing(
    `stages.${name}.gateway.compute: the image of the containers is built here, and there is no ${docker}. Install Docker, or name a program like it: CDK_DOCKER=podman`,
  );
};

const increaseCommand = ({ ServiceCode, QuotaCode }: Quota, value: number, region: string): string =>
  `aws service-quotas request-service-quota-increase --service-code ${ServiceCode} --quota-code ${QuotaCode} --desired-value ${value} --region ${region}`;

const unread = (what: string, error: unknown, needed: number): Preflight =>
  remarking(`The account's ${what} could not be read (${(error as Error).name}): ${needed} are needed.`);

const checkConcurrency = async (settings: StageSettings, account: Account): Promise<Preflight> => {
  const { name, gateway, recorder, expectedRequestsPerSecond, region = '' } = settings;
  const ofGateway = hostGroups(gateway).reduce(
    (sum, { reservedConcurrency = 0, provisionedConcurrency }) =>
      sum + Math.max(reservedConcurrency, provisionedConcurrency),
    0,
  );
  const ofRecorder = recorder.reservesConcurrency ? recorder.maxConcurrency : 0;
  const reserved = ofGateway + ofRecorder;
  const needed = reserved === 0 ? 0 : reserved + UNRESERVED_MIN;
  const inFlight = usesCompute(gateway, 'lambda') ? CHAT_SECONDS * expectedRequestsPerSecond : 0;

  /** Finds settings that would fail, or work worse than they say. */
  const judge = (available: number): Preflight => {
    const most = Math.max(0, available - UNRESERVED_MIN);
    const without =
      ofRecorder > most ? `, and set stages.${name}.recorder.reservesConcurrency to false if that is too few` : '';
    if (needed > available)
      return refusing(
        `stages.${name} reserves ${reserved} (gateway ${ofGateway}, recorder ${ofRecorder}), but the account may run ${available} functions at once, and Lambda keeps ${UNRESERVED_MIN} for those without a reservation. Ask for more: ${increaseCommand(CONCURRENCY, needed, region)}. Until then reserve at most ${most}${without}.`,
      );
    if (inFlight <= available) return FINE;
    const perSecond = (available - ofRecorder) / CHAT_SECONDS;
    const starved =
      ofRecorder === 0
        ? ` While they hold all ${available}, no usage is recorded; after a day it goes to the dead letters.`
        : '';
    return remarking(
      `The account may run ${available} functions at once: ${perSecond} chats of ${CHAT_SECONDS} seconds a second, where ${expectedRequestsPerSecond} requests a second are expected. More get 503.${starved} Ask for more: ${increaseCommand(CONCURRENCY, inFlight + ofRecorder, region)}`,
    );
  };
  try {
    const available = await account.quota(CONCURRENCY);
    return available === undefined ? FINE : judge(available);
  } catch (error) {
    return unread('concurrency', error, Math.max(needed, inFlight));
  }
};

/** A release starts the new tasks next to the old ones; each has one processor. */
const checkProcessors = async ({ name, gateway, region = '' }: StageSettings, account: Account): Promise<Preflight> => {
  const groups = hostGroups(gateway).filter(({ compute }) => compute === 'containers');
  const needed = 2 * groups.length * gateway.containers.minTasks;
  if (needed === 0) return FINE;
  const what = 'processors of Fargate tasks';
  try {
    const available = await account.quota(TASK_PROCESSORS);
    if (available === undefined || needed <= available) return FINE;
    return refusing(
      `stages.${name}.gateway.compute: a release needs up to ${needed} processors, and the account may have ${available} (${what}). Ask for more, which takes hours to days: ${increaseCommand(TASK_PROCESSORS, needed, region)}`,
    );
  } catch (error) {
    return unread(what, error, needed);
  }
};

/** Compares what the expected traffic takes by the second. Where a quota has less, AWS refuses the rest: requests get 429, and records wait. */
const checkRates = async (settings: StageSettings, account: Account): Promise<readonly Preflight[]> => {
  const { name, gateway, table, expectedRequestsPerSecond: expected, region = '' } = settings;
  const { writeUnitsPerSecond = 0 } = table.warmThroughput ?? {};
  const rates = [
    [API_REQUESTS, usesCompute(gateway, 'lambda') ? expected : 0, 'requests of API Gateway'],
    [TABLE_WRITES, writeUnitsPerSecond, 'write units of a table'],
  ] as const;
  return Promise.all(
    rates.map(async ([quota, needed, what]) => {
      const available = await account.quota(quota).catch(() => undefined);
      return available === undefined || needed <= available
        ? FINE
        : remarking(
            `The account may have ${available} ${what} a second in ${region}, and stages.${name} expects ${needed}. Ask for more: ${increaseCommand(quota, needed, region)}`,
          );
    }),
  );
};

const isUnresolved = (error: unknown): boolean =>
  error instanceof Error && ((error as NodeJS.ErrnoException).code === 'ENOTFOUND' || isUnresolved(error.cause));

/** Without it nothing else can be read: the deployment ends here. Null where it may go on. */
const checkCredentials = async (
  { name, account: wanted = '', region = '' }: StageSettings,
  account: Account,
): Promise<string | null> => {
  try {
    const id = await account.id();
    return id === wanted
      ? null
      : `The credentials are of account ${id}, and stages.${name}.account is ${wanted}. Log in to that account, or have it trust this one: npx cdk bootstrap --trust`;
  } catch (error) {
    return isUnresolved(error)
      ? `stages.${name}.region: AWS cannot be reached in ${region}. Is there such a region, and a network?`
      : `AWS does not accept the credentials (${(error as Error).name}). Log in: aws login, aws sso login, or AWS_PROFILE`;
  }
};

const checkBootstrap = async ({ account: id, region }: StageSettings, account: Account): Promise<Preflight> => {
  try {
    await account.bootstrapVersion();
    return FINE;
  } catch (error) {
    if ((error as Error).name !== 'ParameterNotFound')
      return remarking(`Whether the account is bootstrapped could not be read (${(error as Error).name}).`);
    return refusing(`The account is not bootstrapped in ${region}: npx cdk bootstrap aws://${id}/${region}`);
  }
};

const checkZone = async ({ name, hostedZone, customDomains }: StageSettings, account: Account): Promise<Preflight> => {
  if (!hostedZone || !customDomains) return FINE;
  const setting = `stages.${name}.hostedZone`;
  try {
    const found = (await account.zoneName(hostedZone.id))?.replace(/\.$/, '');
    return found === hostedZone.name
      ? FINE
      : refusing(`${setting}: the zone ${hostedZone.id} is ${found}, not ${hostedZone.name}.`);
  } catch (error) {
    return (error as Error).name === 'NoSuchHostedZone'
      ? refusing(`${setting}: the account has no zone ${hostedZone.id}: aws route53 list-hosted-zones`)
      : remarking(`${setting} could not be read (${(error as Error).name}).`);
  }
};

/** Whether a certificate's name is for a host: itself, or a wildcard for one label. */
const isFor = (host: string) => (name: string) =>
  name === host || (name.startsWith('*.') && host.slice(host.indexOf('.')) === name.slice(1));

const checkCertificate = async ({ name, web }: StageSettings, account: Account): Promise<Preflight> => {
  if (!web) return FINE;
  const setting = `stages.${name}.web.certificateArn`;
  try {
    const { status, names } = await account.certificate(web.certificateArn);
    if (status !== 'ISSUED') return refusing(`${setting}: the certificate is ${status}, not ISSUED.`);
    return names.some(isFor(web.name))
      ? FINE
      : refusing(`${setting}: the certificate is for ${names.join(', ')}, not for ${web.name}.`);
  } catch (error) {
    return (error as Error).name === 'ResourceNotFoundException'
      ? refusing(`${setting}: the account has no such certificate in ${CLOUDFRONT_REGION}.`)
      : remarking(`${setting} could not be read (${(error as Error).name}).`);
  }
};

/** CloudFormation does not take over an identity that is there: of another stage or person, or retained when the setting was `existing`. */
const checkNewIdentity = async (
  { name, mail: { identity } }: StageSettings,
  domain: string,
  isKnown: boolean,
  account: Account,
): Promise<Preflight> => {
  if (identity !== 'create' || !isKnown) return FINE;
  if ((await account.resourceTypes(`ai-spend-${name}-mail`)).includes('AWS::SES::EmailIdentity')) return FINE;
  return refusing(
    `stages.${name}.mail.identity: SES has ${domain} already, and not from this stage's stack. Set it to existing, or send from another domain: stages.${name}.mailFrom`,
  );
};

const VERIFY = 'aws sesv2 get-email-identity --email-identity';

/** Alerts, and with `cognito` also codes for passwords, are sent as mailFrom. */
const checkMail = async (settings: StageSettings, account: Account): Promise<readonly Preflight[]> => {
  const { name, mail, sender: from, region = '' } = settings;
  const domain = domainOf(from);
  try {
    const [identities, mailsPerDay] = await Promise.all([account.identities([from, domain]), account.mailsPerDay()]);
    const isVerified = (identity: string) => identities[identity]?.VerificationStatus === 'Success';
    return [
      await checkNewIdentity(settings, domain, domain in identities, account),
      checkSender(name, mail, from, isVerified),
      mailsPerDay === SANDBOX_MAILS_PER_DAY
        ? remarking(
            `SES keeps this account in its sandbox: mails reach verified addresses only${mail.cognito ? ', and so do codes for passwords' : ''}, ${SANDBOX_MAILS_PER_DAY} a day. Ask for production access: docs/deployment.md#mail.`,
          )
        : FINE,
    ];
  } catch (error) {
    // The region is there: checkCredentials has reached another service in it.
    if (isUnresolved(error))
      return [
        refusing(`stages.${name}.region: AWS has no SES in ${region}, by which mails are sent. Choose another region.`),
      ];
    return [
      remarking(
        `SES could not be asked about ${from} (${(error as Error).name}).${mail.cognito ? ` The deployment fails if ${domain} is not verified: ${VERIFY} ${domain}` : ''}`,
      ),
    ];
  }
};

const checkSender = (
  stage: string,
  { identity, cognito }: StageSettings['mail'],
  from: string,
  isVerified: (identity: string) => boolean,
): Preflight => {
  const domain = domainOf(from);
  // Cognito takes a verified domain only.
  if (isVerified(domain)) return FINE;
  if (cognito) {
    const how =
      identity === 'create'
        ? `Set stages.${stage}.mail.cognito to false and deploy: this creates the identity. Once \`${VERIFY} ${domain}\` says SUCCESS, set it to true and deploy again`
        : `Verify ${domain}, or set stages.${stage}.mail.identity to create and cognito to false first`;
    return refusing(
      `stages.${stage}.mail.cognito: Cognito refuses to send as ${from}, because SES has not verified ${domain}. ${how}.`,
    );
  }
  if (isVerified(from)) return FINE;
  return remarking(
    identity === 'create'
      ? `Alerts are not sent until SES has verified ${domain}: minutes after its DKIM records are in the DNS, at most 72 hours.`
      : `Alerts cannot be sent: SES has verified neither ${from} nor ${domain}. Verify one, or set stages.${stage}.mail.identity to create.`,
  );
};

/** Finds faults that CDK would report late, and CloudFormation half-way. */
export const preflight = async (
  settings: StageSettings,
  account: Account = awsAccount(settings),
): Promise<Preflight> => {
  const denied = await checkCredentials(settings, account);
  if (denied !== null) return refusing(denied);
  const all = [
    checkDocker(settings),
    await checkBootstrap(settings, account),
    await checkZone(settings, account),
    await checkCertificate(settings, account),
    await checkConcurrency(settings, account),
    await checkProcessors(settings, account),
    ...(await checkRates(settings, account)),
    ...(await checkMail(settings, account)),
  ];
  return { refusals: all.flatMap(({ refusals }) => refusals), remarks: all.flatMap(({ remarks }) => remarks) };
};
