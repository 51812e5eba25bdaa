import type { Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type * as z from 'zod/mini';
import type { billEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { acknowledgePattern, arnOf, grantActions } from '../constructs/grants.ts';

/** Secrets of accounts: they are made when an account connects a provider's bill, so no template has them. */
const prefixOf = ({ name }: Pick<StageSettings, 'name'>): string => `ai-spend-${name}/bills/`;

export const billVariables = (settings: StageSettings): z.input<typeof billEnvironment> => ({
  BILL_SECRET_PREFIX: prefixOf(settings),
  UPSTREAM_ORIGINS: JSON.stringify(settings.gateway.upstreamOrigins),
});

export const grantBillCredentials = (
  grantee: IGrantable,
  stack: Stack,
  settings: Pick<StageSettings, 'name'>,
  ...actions: readonly ('CreateSecret' | 'DeleteSecret' | 'GetSecretValue' | 'PutSecretValue')[]
): void => {
  const { arn, shown } = arnOf(stack, 'secretsmanager', `secret:${prefixOf(settings)}*`);
  grantActions(grantee, arn, ...actions.map((action) => `secretsmanager:${action}`));
  acknowledgePattern(grantee, shown, 'One secret for each account and provider: they are made while the service runs.');
};
