import { spawnSync } from 'node:child_process';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import {
  GetIdentityVerificationAttributesCommand,
  GetSendQuotaCommand,
  type IdentityVerificationAttributes,
  SESClient,
} from '@aws-sdk/client-ses';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { StageSettings } from '../lib/config.ts';
import { domainOf } from '../lib/stacks/mail.ts';
import { hostGroups, usesCompute } from '../lib/stage-settings.ts';
import { usageCapacity } from '../lib/usage-capacity.ts';

interface Quota {
  readonly ServiceCode: string;
  readonly QuotaCode: string;
}

/** Concurrent executions of all functions of an account and region; new accounts may have 10. */
const CONCURRENCY: Quota = { ServiceCode: 'lambda', QuotaCode: 'L-B99A9384' };
/** Processors of running tasks; new accounts may have 6. */
const TASK_PROCESSORS: Quota = { ServiceCode: 'fargate', QuotaCode: 'L-3032A538' };

/** Lambda keeps this much for functions without a reservation. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
const UNRESERVED_MIN = 100;
/** A request holds a function for as long as its response takes: see docs/cost-and-scale.md. */
const CHAT_SECONDS = 2;
/** In the sandbox, which is where SES keeps an account until AWS lets it out. */
const SANDBOX_MAILS_PER_DAY = 200;

interface Target {
  readonly account: string;
  readonly region: string;
}

/** Reads with the role that `cdk bootstrap` made for look-ups, which a pipeline may take, too; or as whoever runs this. */
const readerOf = ({ account, region }: Target) => {
  const lookUp = fromTemporaryCredentials({
    params: {
      RoleArn: `arn:aws:iam::${account}:role/cdk-hnb659fds-lookup-role-${account}-${region}`,
      RoleSessionName: 'ai-spend-preflight',
    },
    clientConfig: { region },
  });
  return async () => lookUp().catch(() => fromNodeProviderChain()());
};

/** Reads the account. Each rejects where it cannot be read. */
export interface Account {
  quota(quota: Quota): Promise<number | undefined>;
  /** Reads a mail address's and its domain's. One that SES does not know is missing. */
  identities(names: readonly string[]): Promise<Readonly<Record<string, IdentityVerificationAttributes>>>;
  mailsPerDay(): Promise<number | undefined>;
}

const awsAccount = (target: Target): Account => {
  const options = { region: target.region, credentials: readerOf(target), maxAttempts: 2 };
  const ask = async <C extends { destroy(): void }, T>(client: C, question: (client: C) => Promise<T>): Promise<T> => {
    try {
      return await question(client);
    } finally {
      client.destroy();
    }
  };
  return {
    quota: (quota) =>
      ask(new ServiceQuotasClient(options), async (client) => {
        const { Quota } = await client.send(new GetServiceQuotaCommand(quota));
        return Quota?.Value;
      }),
    identities: (names) =>
      ask(new SESClient(options), async (client) => {
        const command = new GetIdentityVerificationAttributesCommand({ Identities: [...names] });
        return (await client.send(command)).VerificationAttributes ?? {};
      }),
    mailsPerDay: () =>
      ask(new SESClient(options), async (client) => (await client.send(new GetSendQuotaCommand({}))).Max24HourSend),
  };
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

/** Compares a quota with what is needed of it. `refuse` says why the deployment would fail. */
const compare = async (
  account: Account,
  quota: Quota,
  needed: number,
  what: string,
  refuse: (available: number) => string,
): Promise<Preflight> => {
  try {
    const available = await account.quota(quota);
    return available === undefined || needed <= available ? FINE : refusing(refuse(available));
  } catch (error) {
    return unread(what, error, needed);
  }
};

const checkConcurrency = async (settings: StageSettings, account: Account): Promise<Preflight> => {
  const { name, gateway, recorder, expectedRequestsPerSecond, region = '' } = settings;
  const ofGateway = hostGroups(gateway).reduce(
    (sum, { reservedConcurrency = 0, provisionedConcurrency }) =>
      sum + Math.max(reservedConcurrency, provisionedConcurrency),
    0,
  );
  const recorders = recorder.maxConcurrency ?? usageCapacity(expectedRequestsPerSecond).maxConcurrency;
  const ofRecorder = recorder.reservesConcurrency ? recorders : 0;
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
  return compare(
    account,
    TASK_PROCESSORS,
    needed,
    what,
    (available) =>
      `stages.${name}.gateway.compute: a release needs up to ${needed} processors, and the account may have ${available} (${what}). Ask for more, which takes hours to days: ${increaseCommand(TASK_PROCESSORS, needed, region)}`,
  );
};

const VERIFY = 'aws sesv2 get-email-identity --email-identity';

/** Alerts, and with `cognito` also codes for passwords, are sent as mailFrom. */
const checkMail = async (
  { name, mail, mailFrom, dashboardDomain }: StageSettings,
  account: Account,
): Promise<readonly Preflight[]> => {
  const from = mailFrom ?? `alerts@${dashboardDomain}`;
  const domain = domainOf(from);
  try {
    const [identities, mailsPerDay] = await Promise.all([account.identities([from, domain]), account.mailsPerDay()]);
    const isVerified = (identity: string) => identities[identity]?.VerificationStatus === 'Success';
    return [
      checkSender(name, mail, from, isVerified),
      mailsPerDay === SANDBOX_MAILS_PER_DAY
        ? remarking(
            `SES keeps this account in its sandbox: mails reach verified addresses only${mail.cognito ? ', and so do codes for passwords' : ''}, ${SANDBOX_MAILS_PER_DAY} a day. Ask for production access: docs/deployment.md#mail.`,
          )
        : FINE,
    ];
  } catch (error) {
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
  account: Account = awsAccount({ account: settings.account ?? '', region: settings.region ?? '' }),
): Promise<Preflight> => {
  const all = [
    checkDocker(settings),
    await checkConcurrency(settings, account),
    await checkProcessors(settings, account),
    ...(await checkMail(settings, account)),
  ];
  return { refusals: all.flatMap(({ refusals }) => refusals), remarks: all.flatMap(({ remarks }) => remarks) };
};
