import type { Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { BillEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { grantActions } from '../constructs/grants.ts';

/** Secrets of accounts: they are made when an account connects a provider's bill, so no template has them. */
const prefixOf = ({ name }: Pick<StageSettings, 'name'>): string => `ai-spend-${name}/bills/`;

export const billEnvironment = (settings: StageSettings): BillEnvironment => ({
  BILL_SECRET_PREFIX: prefixOf(settings),
  UPSTREAM_ORIGINS: JSON.stringify(settings.gateway.upstreamOrigins),
});

export const grantBillCredentials = (
  grantee: IGrantable,
  stack: Stack,
  settings: Pick<StageSettings, 'name'>,
  ...actions: readonly ('CreateSecret' | 'DeleteSecret' | 'GetSecretValue' | 'PutSecretValue')[]
): void =>
  grantActions(
    grantee,
    `arn:${stack.partition}:secretsmanager:${stack.region}:${stack.account}:secret:${prefixOf(settings)}*`,
    ...actions.map((action) => `secretsmanager:${action}`),
  );
