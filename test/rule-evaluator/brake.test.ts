import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { openRules, type Rule } from '../../lambda/data/alerts/rules.ts';
import { openSessions } from '../../lambda/data/spend/sessions.ts';
import { chunk } from '../../lambda/data/table/batch.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { MAX_PAUSES, pausesOf, withoutPause, withPause } from '../../lambda/domain/limits/pauses.ts';
import { type BurnRateCondition, evaluatorOf } from '../../lambda/domain/limits/rule.ts';
import { type EvaluationDependencies, evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { openUsualHours } from '../../lambda/rule-evaluator/judge-values.ts';
import { evaluationDependencies } from '../../lambda/rule-evaluator/open-judge.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, requestIdAt } from '../usage-recorder/events.ts';

/* Rules of the type `burn_rate` over the real table: hundreds of values above a limit within one period. */
const table = tableForTests();

let accountId: string;
let keyId: string;
let clock: Date;
beforeEach(async () => {
  ({ accountId, keyId } = await newAccount(table));
  clock = new Date('2026-11-20T16:05:00.000Z');
});
const later = (minutes: number) => {
  clock = new Date(clock.getTime() + minutes * 60_000);
};

const createRule = async (config: object, type = 'burn_rate') => {
  const rule = ruleOf(accountId, { name: 'Brake', type, config });
  await openRules(table).create(rule);
  return rule.ruleId;
};

/** Judges the account's rules once. @returns what fired, and what failed */
const judge = async (changes: Partial<EvaluationDependencies> = {}) => {
  const readSessions = openSessions(table, () => clock.getTime()).read;
  const evaluate = evaluateAccount({ ...evaluationDependencies(table), readSessions, ...changes });
  return evaluate(accountId, await openRules(table).list(accountId), clock);
};

/** The account's alerts, in their order. */
const storedAlerts = async (): Promise<Alert[]> => {
  const alerts: Alert[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await openAlerts(table).page(accountId, { limit: 100, cursor });
    alerts.unshift(...page.items.reverse());
    cursor = page.nextCursor;
  }
  return alerts;
};

/** Judges each minute until nothing fires any more. */
const judgeAll = async (): Promise<Alert[]> => {
  while ((await judge()).fired.length > 0) later(1);
  return storedAlerts();
};

/** Each tag spends this much in USD within the hour of the clock. */
const spend = async (usdByTag: Readonly<Record<string, number>>) => {
  for (const some of chunk(Object.entries(usdByTag), 50))
    await Promise.all(some.map(([tag, usd]) => addSpend(table, accountId, clock.toISOString(), costing(usd), { tag })));
};
const tagsOf = (count: number, usdOf: (index: number) => number, prefix = 'tag') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, usdOf(index)]));

const pauses = async () => pausesOf(await openBlocks(table).read(accountId), clock);
const pausedTags = async () => (await pauses()).map(({ scope }) => scope.tag);
const valuesOf = (alerts: readonly Alert[]) => alerts.map(({ of }) => of?.value);
const saysPaused = ({ summary }: Alert) => summary.includes('It is paused until');

describe('a burn rate', () => {
  it('alerts once for each of 500 tags in an hour, pauses the worst, and says of the others that they are not', async () => {
    await createRule({ each: 'tag', limit: 1, pause: {} });
    const tags = tagsOf(500, (index) => 2 + index / 100);
    await spend(tags);
    const alerts = await judgeAll();
    expect(valuesOf(alerts).sort()).toEqual(Object.keys(tags).sort());
    const worst = Object.keys(tags).reverse().slice(0, MAX_PAUSES);
    expect(await pausedTags()).toEqual(worst);
    expect(valuesOf(alerts.filter(saysPaused))).toEqual(worst);
    expect(new Set(alerts.slice(MAX_PAUSES).map(({ summary }) => /It is .*/.exec(summary)?.[0]))).toEqual(
      new Set([`It is not paused: the account has ${MAX_PAUSES} pauses, the most there can be.`]),
    );
  });

  it('pauses six and more values of one judging, with one entry of the audit log each', async () => {
    await createRule({ each: 'tag', limit: 1, pause: {} });
    await spend(tagsOf(10, () => 7));
    const { fired, failures } = await judge();
    expect([fired.length, fired.filter(saysPaused).length, failures]).toEqual([10, 10, []]);
    expect(await pauses()).toHaveLength(10);
    const from = '2026-11-20T00:00:00.000Z';
    const { items } = await openAuditLog(table).page(accountId, { from, to: '2026-11-21T00:00:00.000Z', limit: 100 });
    expect(items.map(({ action, subject }) => [action, subject]).sort()).toEqual(
      (await pauses()).map(({ id }) => ['pause.started', id]).sort(),
    );
  });

  it('pauses of a project only the keys that the rule counts', async () => {
    const own = await openServiceKeys(table).list(accountId);
    const keys = { list: async () => [...own, { ...own[0]!, keyId: 'of somebody else' }] };
    await createRule({ each: 'project', limit: 1, pause: {}, filter: { key: keyId } });
    await addSpend(table, accountId, clock.toISOString(), costing(7), { keyId });
    await judge({ keys });
    const paused = (await pauses()).map(({ scope, projectId }) => [scope, projectId]);
    expect(paused).toEqual([[{ keyIds: [keyId] }, undefined]]);
  });

  it('does not pause again in the same hour what somebody resumed, whatever fires afterwards', async () => {
    await createRule({ each: 'tag', limit: 1, pause: {} });
    await spend({ resumed: 100 });
    await judge();
    await openBlocks(table).change(accountId, (blocks) => withoutPause(blocks, blocks.blocks[0]!.id, clock));
    await spend(tagsOf(45, () => 7));
    const alerts = await judgeAll();
    expect(alerts).toHaveLength(46);
    expect(await pausedTags()).not.toContain('resumed');
    later(60);
    await spend({ resumed: 100 });
    await judge();
    expect(await pausedTags()).toContain('resumed');
  });

  it('stops each of 70 sessions of a day as it crosses the limit, and says which pause ended for it', async () => {
    await createRule({ each: 'session', limit: 5, pause: {} });
    const recorder = openRecorder(table, { logger: silentLogger(), now: () => clock.getTime() });
    clock = new Date('2026-11-20T00:00:30.000Z');
    const runs = Array.from({ length: 70 }, (_, run) => `run-${run}`);
    const usage = { input_tokens: 12, cache_creation_input_tokens: 400_000, output_tokens: 700 };
    for (const [n, id] of runs.entries()) {
      const startedAt = clock.toISOString();
      const event = closeEvent({ accountId, keyId, n, startedAt, provider: 'anthropic', path: '/v1/messages' });
      const reading = {
        ...{ dialect: 'anthropic-messages' as const, usage, modelRequested: 'claude-opus-4-1' },
        modelServed: 'claude-opus-4-1-20250805',
      };
      const requestId = requestIdAt(startedAt, n);
      await recorder([{ ...event, requestId, session: { id }, reading: { ...event.reading, ...reading } }]);
      const { fired } = await judge();
      expect(valuesOf(fired)).toEqual([id]);
      expect((await pauses()).map(({ scope }) => scope.sessionId)).toContain(id);
      const ended = n < MAX_PAUSES ? '' : ` For that the pause “Brake” of session run-${n - MAX_PAUSES} ended early: `;
      expect(fired[0]?.summary).toContain(
        `It is paused until ${new Date(clock.getTime() + 43_200_000).toISOString()}.${ended}`,
      );
      later(13);
    }
  });

  it('ends no pause for a longer one of the same judging, whatever the order of the rules', async () => {
    for (const minutes of [60, 180]) await createRule({ each: 'tag', limit: 1, pause: { minutes } });
    await spend(tagsOf(30, () => 7));
    const { fired } = await judge();
    expect(fired.filter(saysPaused)).toHaveLength(MAX_PAUSES);
    expect(fired.filter(({ summary }) => summary.includes('ended early'))).toEqual([]);
    const longEnd = new Date(clock.getTime() + 180 * 60_000).toISOString();
    expect((await pauses()).filter(({ until }) => until === longEnd)).toHaveLength(30);
  });

  it('alerts once for each value and loses no pause where evaluators run in parallel', async () => {
    await createRule({ each: 'tag', limit: 1, pause: {} });
    const tags = tagsOf(20, () => 7);
    await spend(tags);
    await Promise.all(Array.from({ length: 4 }, () => judge()));
    expect(valuesOf(await storedAlerts()).sort()).toEqual(Object.keys(tags).sort());
    expect((await pausedTags()).sort()).toEqual(Object.keys(tags).sort());
  });

  it('sends its alerts, and judges the other rules, where a pause fails', async () => {
    const ruleId = await createRule({ each: 'tag', limit: 1, pause: {} });
    await createRule({ threshold: 1, period: 'daily' }, 'cost_threshold');
    await spend(tagsOf(3, () => 7));
    const error = new Error('no table');
    const change = jest.fn<EvaluationDependencies['blocks']['change']>().mockRejectedValue(error);
    const { fired, failures } = await judge({ blocks: { change, changeByLimits: async () => {} } });
    expect(fired.map(({ type }) => type)).toEqual([...Array(3).fill('burn_rate'), 'cost_threshold']);
    for (const { summary } of fired.slice(0, 3)) expect(summary).toContain('It may not be paused: that failed.');
    expect(failures).toEqual([{ ruleId, error }]);
    expect(change).toHaveBeenCalledTimes(1);
  });

  it('says that a value is not paused whose hour is over', async () => {
    await createRule({ each: 'tag', limit: 1, pause: {} });
    await spend({ night: 7 });
    later(60);
    const { fired } = await judge();
    expect(fired).toMatchObject([{ summary: expect.stringContaining('It is not paused: the hour is over.') }]);
    expect(await pauses()).toEqual([]);
  });

  it('ends no pause that a person made, nor one that lasts nearly as long', async () => {
    await createRule({ each: 'tag', limit: 1, pause: { minutes: 120 } });
    const made = (index: number, ruleId: string | undefined, minutes: number) => ({
      ...{ id: `pause-${index}`, kind: 'pause' as const, name: 'By hand', scope: { tag: `made-${index}` } },
      ...{ startedAt: clock.toISOString(), until: new Date(clock.getTime() + minutes * 60_000).toISOString() },
      ...{ amountNanoUsd: null, spentNanoUsd: null, ruleId },
    });
    // One more may begin. Of those of rules, one ends an hour before the new ones.
    const before = [
      ...Array.from({ length: MAX_PAUSES - 3 }, (_, index) => made(index, undefined, 1)),
      ...[made(97, 'rule', 90), made(98, 'rule', 30)],
    ];
    await openBlocks(table).change(accountId, (blocks) =>
      before.reduce((sum, pause) => withPause(sum, pause, clock).blocks, blocks),
    );
    await spend({ first: 9, second: 8, third: 7 });
    const { fired } = await judge();
    expect(fired.map(({ of, summary }) => [of?.value, /It is (not )?paused/.exec(summary)?.[0]])).toEqual([
      ['first', 'It is paused'],
      ['second', 'It is paused'],
      ['third', 'It is not paused'],
    ]);
    const stay = before.slice(0, -1).map(({ scope }) => scope.tag);
    expect(await pausedTags()).toEqual([...stay, 'first', 'second']);
  });
});

describe('a budget that is used up', () => {
  it.each<[string, (rule: Rule) => Promise<void>]>([
    ['deleted', ({ ruleId }) => openRules(table).remove(accountId, ruleId)],
    ['raised', (rule) => openRules(table).replace({ ...rule, revision: 2 }, 1)],
  ])('stops nothing where it is %s while it is judged', async (_, change) => {
    const config = { amount: 5, period: 'daily', block: {}, notifyAt: [] };
    const rule = await openRules(table).find(accountId, await createRule(config, 'budget'));
    await spend({ tag: 7 });
    const { readCounters } = evaluationDependencies(table);
    const { failures } = await judge({
      async *readCounters(question) {
        await change(rule);
        yield* readCounters(question);
      },
    });
    expect([failures, (await openBlocks(table).read(accountId)).blocks]).toEqual([[], []]);
  });

  it('stays stopped where a judging ends that began before it was used up', async () => {
    const ruleId = await createRule({ amount: 5, period: 'daily', block: {}, notifyAt: [] }, 'budget');
    const { readCounters } = evaluationDependencies(table);
    const stopped = async () => (await openBlocks(table).read(accountId)).blocks.map(({ id }) => id);
    await judge({
      async *readCounters(question) {
        yield* await Array.fromAsync(readCounters(question));
        await spend({ tag: 7 });
        later(1);
        await judge();
        expect(await stopped()).toEqual([ruleId]);
      },
    });
    expect(await stopped()).toEqual([ruleId]);
  });
});

it('reads the usual hours of a rule once a day, and again where its condition has changed', async () => {
  let reads = 0;
  let isDown = true;
  const usualHours = openUsualHours(() => {
    reads += 1;
    return (async function* () {
      if (isDown) throw new Error('down');
      yield* [];
    })();
  });
  const config = { each: 'tag', factor: 3 };
  const rule = ruleOf(accountId, { type: 'burn_rate', config }) as Rule<BurnRateCondition>;
  const ask = (changes: Partial<Rule> = {}, start = clock.toISOString()) =>
    usualHours({ ...rule, ...changes } as typeof rule, evaluatorOf(rule.condition), start);
  await expect(ask()).rejects.toThrow('down');
  [isDown, reads] = [false, 0];
  await Promise.all([ask(), ask()]);
  expect(reads).toBe(1);
  for (const changes of [{ conditionRevision: 2 }, { ruleId: 'other' }, { accountId: 'other' }]) await ask(changes);
  await ask({}, '2026-11-21T00:05:00.000Z');
  expect(reads).toBe(5);
});
