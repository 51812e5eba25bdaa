import { describe, expect, it } from '@jest/globals';
import { type FixedResources, fixedResources } from '../../../ops/cost/estimate.ts';
import { inContainers, resourcesOf, stacks, synthStage } from '../synth-stage.ts';

const perHour = { minute: 60, hour: 1, day: 1 / 24 };

/** What a stage bills by the month. */
const countedIn = (settings: object): FixedResources => {
  const stage = synthStage(settings);
  const all = (type: string) =>
    stacks.flatMap((stack) => Object.values(resourcesOf(stage(stack), type)).map(({ Properties }) => Properties));
  const acls = all('AWS::WAFv2::WebACL');
  const runs = stacks.flatMap((stack) =>
    Object.values(resourcesOf(stage(stack), 'AWS::Events::Rule')).flatMap(({ Properties }) => {
      const [, count, unit] =
        /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(Properties['ScheduleExpression'])) ?? [];
      const [{ Arn }] = Properties['Targets'] as [{ Arn: { 'Fn::GetAtt': [string] } }];
      const { MemorySize } = resourcesOf(stage(stack), 'AWS::Lambda::Function')[Arn['Fn::GetAtt'][0]]?.Properties ?? {};
      const perMonth = (730 * perHour[unit as keyof typeof perHour]) / Number(count);
      return [{ perMonth, gb: Number(MemorySize) / 1_024 }];
    }),
  );
  return {
    webAcls: acls.length,
    firewallRules: acls.reduce((sum, { Rules }) => sum + (Rules as unknown[]).length, 0),
    alarmMetrics: all('AWS::CloudWatch::Alarm').reduce(
      (sum, alarm) => sum + Math.max(1, JSON.stringify(alarm).split('"MetricStat"').length - 1),
      0,
    ),
    dashboards: all('AWS::CloudWatch::Dashboard').length,
    secrets: all('AWS::SecretsManager::Secret').length,
    scheduledRuns: Math.round(runs.reduce((sum, { perMonth }) => sum + perMonth, 0)),
    scheduledGbRuns: Math.round(runs.reduce((sum, { perMonth, gb }) => sum + perMonth * gb, 0)),
    polledQueues: all('AWS::Lambda::EventSourceMapping').length,
  };
};

describe('what npm run cost counts by the month', () => {
  it.each([
    ['lambda', {}],
    ['containers', inContainers],
  ] as const)('is what the templates of a stage on %s have', (engine, settings) => {
    expect(countedIn(settings)).toEqual(fixedResources[engine]);
  });
});
