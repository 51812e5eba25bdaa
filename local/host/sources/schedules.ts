import { randomUUID } from 'node:crypto';
import type { ScheduledEvent } from 'aws-lambda';
import { z } from 'zod';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { functionOfArn, type LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import { type App, definitions } from '../template/definitions.ts';
import { LOCAL_ACCOUNT } from '../template/names.ts';
import { msToNextRun } from './schedule-expression.ts';
import type { Poller } from './sqs-poller.ts';

const target = z.object({ Arn: z.string(), Input: z.string().optional() });
const enabled = z.enum(['ENABLED', 'DISABLED', 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS']).default('ENABLED');
const ruleSchema = z.object({
  ScheduleExpression: z.string().optional(),
  State: enabled,
  Targets: z.array(target).default([]),
});
const scheduleSchema = z.object({ ScheduleExpression: z.string(), State: enabled, Target: target });

interface ScheduledFunction {
  readonly expression: string;
  readonly lambda: LambdaFunction;
  /** The fixed event of the target; the EventBridge event without one. */
  readonly input: string | undefined;
  readonly ruleArn: string;
}

const MAX_TIMER_MS = 2 ** 31 - 1;
/** The first run comes soon, since intervals begin anew with each start of the stack. One after another: exports follow rollups. */
const FIRST_RUN_MS = MINUTE_MS;
const FIRST_RUNS_APART_MS = 3_000;

/** Those of the given functions that EventBridge rules and EventBridge Scheduler run. */
export const scheduledFunctions = (app: App, functions: readonly LambdaFunction[]): ScheduledFunction[] => {
  const rules = definitions(app, ruleSchema, 'AWS::Events::Rule').map(({ properties, ...rule }) => ({
    ruleArn: rule.attribute('Arn'),
    state: properties.State,
    expression: properties.ScheduleExpression,
    targets: properties.Targets,
  }));
  const schedules = definitions(app, scheduleSchema, 'AWS::Scheduler::Schedule').map(({ properties, ...schedule }) => ({
    ruleArn: schedule.attribute('Arn'),
    state: properties.State,
    expression: properties.ScheduleExpression,
    targets: [properties.Target],
  }));
  return [...rules, ...schedules].flatMap(({ ruleArn, state, expression, targets }) =>
    targets.flatMap(({ Arn, Input: input }) => {
      const lambda = functionOfArn(functions, Arn);
      return lambda && expression && state !== 'DISABLED' ? [{ expression, lambda, input, ruleArn }] : [];
    }),
  );
};

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

const runScheduled = async ({ lambda, input, ruleArn }: ScheduledFunction, invoker: Invoker): Promise<void> => {
  const event = input ? JSON.parse(input) : scheduledEvent(ruleArn);
  // The invoker has logged the failure; the next run is the retry.
  await invoker.invoke(lambda, event).catch(() => {});
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
  const plan = (entry: ScheduledFunction, longestMs = MAX_TIMER_MS): void => {
    const waitMs = Math.min(everyMs ?? msToNextRun(entry.expression, new Date()), longestMs);
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
