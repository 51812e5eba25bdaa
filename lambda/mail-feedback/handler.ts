import { Logger } from '@aws-lambda-powertools/logger';
import type { SNSHandler } from 'aws-lambda';
import * as z from 'zod/mini';
import { openUsers } from '../data/accounts/users.ts';
import { openTable } from '../data/table/table.ts';
import type { MailFeedbackEnvironment } from '../environment.ts';
import { blockAddresses } from './block-addresses.ts';

const environment = z
  .object({
    TABLE_NAME: z.string().check(z.minLength(1)),
  } satisfies Record<keyof MailFeedbackEnvironment, z.ZodMiniType>)
  .parse(process.env);

const logger = new Logger({ serviceName: 'mail-feedback' });
const block = blockAddresses({ users: openUsers(openTable(environment.TABLE_NAME)), logger, now: Date.now });

/** Takes SES's reports of bounces and complaints. */
export const handler: SNSHandler = async ({ Records }) => {
  for (const { Sns } of Records) await block(Sns.Message);
};
