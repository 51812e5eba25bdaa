import { Logger } from '@aws-lambda-powertools/logger';
import type { SNSHandler } from 'aws-lambda';
import { openUsers } from '../data/accounts/users.ts';
import { openTable } from '../data/table/table.ts';
import { mailFeedbackEnvironment } from '../environment.ts';
import { blockAddresses } from './block-addresses.ts';

const { TABLE_NAME } = mailFeedbackEnvironment.parse(process.env);
const logger = new Logger({ serviceName: 'mail-feedback' });
const block = blockAddresses({ users: openUsers(openTable(TABLE_NAME)), logger, now: Date.now });

/** Takes SES's reports of bounces and complaints. */
export const handler: SNSHandler = async ({ Records }) => {
  for (const { Sns } of Records) await block(Sns.Message);
};
