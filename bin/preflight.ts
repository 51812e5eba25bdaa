import { spawnSync } from 'node:child_process';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { StageSettings } from '../lib/config.ts';
import { usesCompute } from '../lib/stage-settings.ts';

/** Concurrent executions of all functions of an account and region; new accounts may have 10. */
const CONCURRENCY_QUOTA = { ServiceCode: 'lambda', QuotaCode: 'L-B99A9384' };

/** Lambda keeps this much for functions without a reservation. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
const UNRESERVED_MIN = 100;

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

export interface Preflight {
  /** Why the deployment would fail, one sentence each with what to do. */
  readonly refusals: readonly string[];
  /** What could not be checked. */
  readonly remarks: readonly string[];
}

const concurrencyQuota = async (target: Target): Promise<number | undefined> => {
  const quotas = new ServiceQuotasClient({ region: target.region, credentials: readerOf(target), maxAttempts: 2 });
  try {
    const { Quota } = await quotas.send(new GetServiceQuotaCommand(CONCURRENCY_QUOTA));
    return Quota?.Value;
  } finally {
    quotas.destroy();
  }
};

/** CDK builds the container's image with this program. */
const missingDocker = ({ name, gateway }: StageSettings): string[] => {
  const docker = process.env['CDK_DOCKER'] ?? 'docker';
  if (!usesCompute(gateway, 'containers') || spawnSync(docker, ['--version'], { stdio: 'ignore' }).status === 0)
    return [];
  return [
    `stages.${name}.gateway.compute: the image of the containers is built here, and there is no ${docker}. Install Docker, or name a program like it: CDK_DOCKER=podman`,
  ];
};

/** What CDK would find out late, and CloudFormation half-way. */
export const preflight = async (settings: StageSettings): Promise<Preflight> => {
  const { refusals, remarks } = await compareWithQuota(settings);
  return { refusals: [...missingDocker(settings), ...refusals], remarks };
};

const compareWithQuota = async ({ name, gateway, account = '', region = '' }: StageSettings): Promise<Preflight> => {
  const functions = [gateway, ...Object.values(gateway.isolatedProviders)];
  const reserved = functions.reduce((sum, { reservedConcurrency = 0 }) => sum + reservedConcurrency, 0);
  if (reserved === 0) return { refusals: [], remarks: [] };
  try {
    const quota = await concurrencyQuota({ account, region });
    if (quota === undefined || reserved + UNRESERVED_MIN <= quota) return { refusals: [], remarks: [] };
    const most = Math.max(0, quota - UNRESERVED_MIN);
    return {
      refusals: [
        `stages.${name}.gateway.reservedConcurrency: ${reserved} in all, but the account may run ${quota} functions at once and keeps ${UNRESERVED_MIN} for those without a reservation. Reserve at most ${most}, or ask for more: aws service-quotas request-service-quota-increase --service-code lambda --quota-code ${CONCURRENCY_QUOTA.QuotaCode} --desired-value ${reserved + UNRESERVED_MIN} --region ${region}`,
      ],
      remarks: [],
    };
  } catch (error) {
    return {
      refusals: [],
      remarks: [
        `The account's concurrency could not be read (${(error as Error).name}): reserving ${reserved} may fail.`,
      ],
    };
  }
};
