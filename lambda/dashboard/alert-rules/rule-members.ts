import * as z from 'zod/mini';
import { channelNames } from '../../domain/alert-rules/rule.ts';

/* Members that alert rules and budgets share. */

export const channelsSchema = z
  .array(z.enum(channelNames))
  .check(
    z.minLength(1),
    z.maxLength(channelNames.length),
    z.describe("`email` mails the account's users. `webhook` posts to webhookUrl."),
  );
export const webhookUrlSchema = z
  .string()
  .check(
    z.maxLength(2048),
    z.describe('HTTPS with a public address. Required for the channel webhook. Slack incoming webhooks work.'),
  );
