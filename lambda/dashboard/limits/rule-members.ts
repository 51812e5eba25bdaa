import * as z from 'zod/mini';
import type { Rule } from '../../data/alerts/rules.ts';
import { alertSchema } from '../../domain/alerts/alert.ts';
import { channelTypes, maskTarget, shownWebhookUrl } from '../../domain/alerts/channels.ts';
import { anyPeriodNames } from '../../domain/calendar/periods.ts';
import { budgetEvents } from '../../domain/limits/evaluator.ts';
import { channelNames, type TargetName, targetNames } from '../../domain/limits/rule.ts';
import { was } from '../../http/as-read.ts';
import { component, ok } from '../../http/operation.ts';
import { count, described, name } from '../../http/parameters.ts';

/* Members that alert rules, budgets and reports share. */

const channelsSchema = described(
  z.array(z.enum(channelNames)).check(z.minLength(1), z.maxLength(channelNames.length)),
  "`email` mails the account's users. `webhook` posts to webhookUrl, the others to their member of `targets`.",
);
const webhookUrlSchema = described(
  z.nullable(z.string().check(z.maxLength(2048))),
  'HTTPS with a public address. Required for the channel webhook. Slack incoming webhooks work; their URL is shown masked.',
);

/** An object with a member for each channel that has a target. */
const targetsSchema = <S extends z.core.$ZodType>(schemaOf: (name: TargetName) => S) =>
  z.strictObject(
    Object.fromEntries(targetNames.map((name) => [name, z.optional(schemaOf(name))])) as {
      [Name in TargetName]: z.ZodMiniOptional<S>;
    },
  );

const targetSchema = (name: TargetName) =>
  described(z.string().check(z.maxLength(2048)), `${channelTypes[name].target}. Required for the channel ${name}.`);

/** A client sends these to create a rule, apart from its condition. */
export const newMembers = {
  name: name(100),
  channels: z._default(channelsSchema, ['email']),
  isActive: z._default(z.boolean(), true),
  webhookUrl: z.optional(webhookUrlSchema),
  targets: z.optional(targetsSchema(targetSchema)),
};

/** The same, all optional and without defaults. */
export const previewMembers = {
  name: z.optional(newMembers.name),
  channels: z.optional(channelsSchema),
  isActive: z.optional(z.boolean()),
  webhookUrl: z.optional(webhookUrlSchema),
  targets: newMembers.targets,
};

/** The same for a change. A null removes the webhook or target; what a rule shows keeps it. */
export const changedMembers = {
  ...previewMembers,
  was,
  targets: z.optional(targetsSchema((name) => z.nullable(targetSchema(name)))),
};

/** The response to a message that was sent at once. @param error what the member of that name says */
export const channelResults = (error: string) =>
  ok('How each channel took it.', {
    items: z.array(
      z.object({
        channel: z.enum(channelNames),
        isDelivered: z.boolean(),
        isPending: described(z.optional(z.boolean()), 'It is on its way: see `runs` of GET /reports/{id}.'),
        error: described(z.nullable(z.string()), error),
      }),
    ),
  });

export const shownMembers = {
  id: z.string(),
  name: z.string(),
  channels: z.array(z.enum(channelNames)),
  isActive: z.boolean(),
  webhookUrl: z.nullable(z.string()),
  targets: described(
    targetsSchema(() => z.string()),
    'Secrets: only the host and the last four characters of each are shown.',
  ),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const shownSecret = {
  webhookSecret: described(
    z.optional(z.string()),
    'Shown only once. Webhooks are signed with it, see docs/dashboard-api.md.',
  ),
};

type Shown = Pick<Rule, 'name' | 'channels' | 'isActive' | 'webhook' | 'targets' | 'createdAt' | 'updatedAt'>;

/** `shownMembers` of a rule or report. */
export const shownMembersOf = (
  id: string,
  { name, channels, isActive, webhook, targets, createdAt, updatedAt }: Shown,
) => ({
  ...{ id, name, channels, isActive, createdAt, updatedAt },
  webhookUrl: webhook && shownWebhookUrl(webhook.url),
  targets: Object.fromEntries(Object.entries(targets ?? {}).map(([channel, target]) => [channel, maskTarget(target)])),
});

export const membersOf = (rule: Rule) => shownMembersOf(rule.ruleId, rule);

/** `shownSecret` of a rule or report: only the response that creates a secret shows it. */
export const newSecretOf = ({ webhook }: Pick<Rule, 'webhook'>, previous: Rule['webhook']) =>
  webhook && webhook !== previous ? { webhookSecret: webhook.secret } : {};

const unit = z.enum(['nanoUsd', 'percent', 'requests']);

export const shownPeriod = z.object({ name: z.enum(anyPeriodNames), start: z.iso.datetime(), end: z.iso.datetime() });

/** Requests that may belong to a sum, and are not in it. */
export const mayMatch = z.nullable(
  z.object({ requests: z.int(), costNanoUsd: z.nullable(z.int()), unpricedRequests: z.int() }),
);

/** The alerts that a rule or budget would have sent in the last 30 days. */
export const previewSchema = component('LimitPreview', {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  periods: described(count, 'Number of periods evaluated.'),
  requests: described(count, 'Requests in this time that the filter matches. 0: the rule had nothing to judge.'),
  mayAlsoMatch: described(
    mayMatch,
    'Requests counted under `(other)`, or recorded before the dimension was declared, that may match the filter, and were not evaluated. Null if there are none. From some minutes after a rule is active, its names keep counters of their own.',
  ),
  unjudgedPeriods: described(
    count,
    'The part with too little history to compare with, or with too few requests, for the rule to fire.',
  ),
  stoppedNanoUsd: described(
    z.nullable(z.int()),
    'The spend that it would have stopped, in 1e-9 USD: a budget with a block, or pauses. Null if it stops nothing.',
  ),
  alerts: z.array(
    z.object({
      period: shownPeriod,
      by: described(
        z.iso.datetime(),
        'It would have fired by this time: the end of an hour or day, as precise as spend is kept.',
      ),
      event: z.nullable(z.enum(budgetEvents)),
      of: z.nullable(alertSchema.shape.of.def.innerType),
      stoppedNanoUsd: described(z.nullable(z.int()), 'The spend that its pause would have stopped, in 1e-9 USD.'),
      isBrief: described(
        z.nullable(z.boolean()),
        'The next hour was below the limit again: most likely a false alarm. Null of rules that judge no values.',
      ),
      unit,
      figure: described(z.number(), 'The value at that time.'),
      limit: z.number(),
      unpricedRequests: count,
      summary: z.string(),
    }),
  ),
  unit: described(z.nullable(unit), 'Unit of the points. Null where there was too little to judge by.'),
  points: described(
    z.array(
      z.object({
        time: described(z.string(), 'The hour or day, UTC.'),
        figure: described(
          z.nullable(z.number()),
          'What the rule saw by its end: since its period began; of a forecast, the forecast; of a rule that judges values, the highest. Null where there was too little to judge by.',
        ),
        limit: z.nullable(z.number()),
        usual: described(z.nullable(z.number()), 'The median that the limit comes from. Null of most rules.'),
        fired: z.boolean(),
      }),
    ),
    'Each hour or day, without gaps.',
  ),
});
