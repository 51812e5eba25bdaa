import { randomUUID } from 'node:crypto';
import type { ScheduledEvent } from 'aws-lambda';
import { z } from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { functionOfArn, type LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import { type App, definitions } from '../template/definitions.ts';
import { LOCAL_ACCOUNT } from '../template/names.ts';
import type { Poller } from './sqs-poller.ts';

const UNIT_MS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;

/** The app's schedules are all rates: lib/constructs/handler-function.ts. */
const rate = z
  .string()
  .regex(/^rate\(\d+ (minute|hour|day)s?\)$/)
  .transform((expression) => {
    const [, count, unit] = /(\d+) (minute|hour|day)/.exec(expression) ?? [];
    return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  });

const ruleSchema = z.object({
  ScheduleExpression: rate,
  State: z.literal('ENABLED'),
  Targets: z.array(z.object({ Arn: z.string() })),
});

interface ScheduledFunction {
  readonly everyMs: number;
  readonly lambda: LambdaFunction;
  readonly ruleArn: string;
}

/** The first run comes soon, since intervals begin anew with each start of the stack. One after another: exports follow rollups. */
const FIRST_RUN_MS = MINUTE_MS;
const FIRST_RUNS_APART_MS = 3_000;

/** Those of the given functions that EventBridge rules run. */
export const scheduledFunctions = (app: App, functions: readonly LambdaFunction[]): ScheduledFunction[] =>
  definitions(app, ruleSchema, 'AWS::Events::Rule').flatMap(({ properties, ...rule }) =>
    properties.Targets.flatMap(({ Arn }) => {
      const lambda = functionOfArn(functions, Arn);
      return lambda ? [{ everyMs: properties.ScheduleExpression, lambda, ruleArn: rule.attribute('Arn') }] : [];
    }),
  );

const scheduledEvent = (ruleArn: string): ScheduledEvent => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: LOCAL_ACCOUNT,
  time: new Date().toISOString(),
  region: LOCAL_REGION,
  resources: [ruleArn],
  detail: {},
});

const runScheduled = async ({ lambda, ruleArn }: ScheduledFunction, invoker: Invoker): Promise<void> => {
  // The invoker has logged the failure; the next run is the retry.
  await invoker.invoke(lambda, scheduledEvent(ruleArn)).catch(() => {});
};

/** Runs each function once, now. */
export const runSchedules = async (scheduled: readonly ScheduledFunction[], invoker: Invoker): Promise<void> => {
  await Promise.all(scheduled.map((entry) => runScheduled(entry, invoker)));
};

/**
 * Runs each function on its schedule; a run that takes longer than the interval is not overlapped.
 *
 * @param everyMs runs everything at this interval instead, for tests
 */
export const startSchedules = (scheduled: readonly ScheduledFunction[], invoker: Invoker, everyMs?: number): Poller => {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  const plan = (entry: ScheduledFunction, longestMs = Number.POSITIVE_INFINITY): void => {
    const waitMs = Math.min(everyMs ?? entry.everyMs, longestMs);
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await runScheduled(entry, invoker);
      if (!stopped) plan(entry);
    }, waitMs);
    timers.add(timer);
  };
  for (const [index, entry] of scheduled.entries()) plan(entry, FIRST_RUN_MS + index * FIRST_RUNS_APART_MS);
  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
