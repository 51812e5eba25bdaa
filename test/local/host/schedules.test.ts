import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import type { LambdaFunction } from '../../../local/host/lambda/functions.ts';
import type { Invoker } from '../../../local/host/lambda/invoker.ts';
import { scheduledFunctions, startSchedules } from '../../../local/host/sources/schedules.ts';
import { appOf, stackOf } from './stack-of.ts';

const target = { Arn: { 'Fn::GetAtt': ['Sweep', 'Arn'] } };
const app = appOf(
  stackOf('usage', {
    Sweep: { Type: 'AWS::Lambda::Function' },
    EveryMinute: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(1 minute)', State: 'ENABLED', Targets: [target] },
    },
    Daily: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(12 hours)', State: 'ENABLED', Targets: [target] },
    },
  }),
);
const sweep: LambdaFunction = {
  name: 'usage-Sweep',
  arn: 'arn:aws:lambda:eu-central-1:000000000000:function:usage-Sweep',
  label: 'Sweep',
  file: '',
  exportName: 'handler',
  timeoutMs: 1_000,
  memoryMb: 128,
  environment: {},
};

describe('schedules', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are read from the rules, and refused where they are no rates', () => {
    expect(scheduledFunctions(app, [sweep]).map(({ everyMs }) => everyMs)).toEqual([MINUTE_MS, 12 * HOUR_MS]);
    const nightly = { ScheduleExpression: 'cron(0 3 * * ? *)', State: 'ENABLED', Targets: [target] };
    const other = appOf(
      stackOf('usage', {
        Sweep: { Type: 'AWS::Lambda::Function' },
        Nightly: { Type: 'AWS::Events::Rule', Properties: nightly },
      }),
    );
    expect(() => scheduledFunctions(other, [sweep])).toThrow('ScheduleExpression');
  });

  it('run again and again with their event, also after a failure, until they are stopped', async () => {
    const events: unknown[] = [];
    const invoker: Invoker = {
      invoke: async (_lambda, event) => {
        // They are stopped while a run goes on.
        if (events.push(event) === 6) await schedules.stop();
        throw new Error('the next run is the retry');
      },
      stop: async () => {},
    };
    const schedules = startSchedules(scheduledFunctions(app, [sweep]), invoker, 10);
    while (events.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(events).toHaveLength(6);
    expect(events).toContainEqual(expect.objectContaining({ 'detail-type': 'Scheduled Event' }));
  });

  it('run soon after the start, one after another: a stack that runs for less than an hour exports, too', async () => {
    jest.useFakeTimers();
    const runs: string[] = [];
    const invoker: Invoker = { invoke: async ({ name }) => void runs.push(name), stop: async () => {} };
    const hourly = ['Rollup', 'Exporter'].map((name) => ({
      everyMs: HOUR_MS,
      lambda: { ...sweep, name },
      ruleArn: '',
    }));
    const schedules = startSchedules(hourly, invoker);
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(runs).toEqual(['Rollup']);
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(runs).toEqual(['Rollup', 'Exporter']);
    await jest.advanceTimersByTimeAsync(HOUR_MS - 2 * MINUTE_MS);
    expect(runs).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(runs).toEqual(['Rollup', 'Exporter', 'Rollup', 'Exporter']);
    await schedules.stop();
  });
});
