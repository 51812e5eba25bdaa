import * as z from 'zod/mini';
import type { Rule } from '../../data/alerts/rules.ts';
import { channelNames } from '../../domain/alert-rules/rule.ts';
import { name } from '../../http/name.ts';

/* Members that alert rules and budgets share. */

const channelsSchema = z
  .array(z.enum(channelNames))
  .check(
    z.minLength(1),
    z.maxLength(channelNames.length),
    z.describe("`email` mails the account's users. `webhook` posts to webhookUrl."),
  );
const webhookUrlSchema = z
  .string()
  .check(
    z.maxLength(2048),
    z.describe('HTTPS with a public address. Required for the channel webhook. Slack incoming webhooks work.'),
  );

/** What a client sends to create a rule, apart from its condition. */
export const newMembers = {
  name: name(100),
  channels: z._default(channelsSchema, ['email']),
  isActive: z._default(z.boolean(), true),
  webhookUrl: z.optional(webhookUrlSchema),
};

/** The same, all optional and without defaults. */
export const previewMembers = {
  name: z.optional(newMembers.name),
  channels: z.optional(channelsSchema),
  isActive: z.optional(z.boolean()),
  webhookUrl: z.optional(webhookUrlSchema),
};

/** The same for a change. A null removes the webhook. */
export const changedMembers = { ...previewMembers, webhookUrl: z.optional(z.nullable(webhookUrlSchema)) };

export const shownMembers = {
  id: z.string(),
  name: z.string(),
  channels: z.array(z.enum(channelNames)),
  isActive: z.boolean(),
  webhookUrl: z.nullable(z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const shownSecret = {
  webhookSecret: z.optional(
    z.string().check(z.describe('Shown only once. Webhooks are signed with it, see docs/dashboard-api.md.')),
  ),
};

export const idParams = z.strictObject({ id: z.string().check(z.minLength(1), z.maxLength(64)) });

/** `shownMembers` of a rule. */
export const membersOf = ({ ruleId, name, channels, isActive, webhook, createdAt, updatedAt }: Rule) => ({
  ...{ id: ruleId, name, channels, isActive, createdAt, updatedAt },
  webhookUrl: webhook?.url ?? null,
});

/** `shownSecret` of a rule: only the response that creates a secret shows it. */
export const newSecretOf = ({ webhook }: Rule, previous: Rule['webhook']) =>
  webhook && webhook !== previous ? { webhookSecret: webhook.secret } : {};
