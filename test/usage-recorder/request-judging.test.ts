import { describe, expect, it } from '@jest/globals';
import type { AccountJob } from '../../lambda/domain/limits/account-job.ts';
import { withObservers } from '../../lambda/usage-recorder/observers.ts';
import type { Recorder } from '../../lambda/usage-recorder/recorder.ts';
import { budgetJudging } from '../../lambda/usage-recorder/request-judging.ts';

const JUDGING_INTERVAL_MS = 2_000;
const START = Date.parse('2026-11-20T12:00:00.000Z');
const STARTED = '2026-11-20T11:59:58.000Z';

const watched = (options: { hasBudgets?: boolean; fails?: boolean } = {}) => {
  let now = START;
  const sent: (AccountJob & { readonly delaySeconds: number })[] = [];
  const errors: string[] = [];
  const record = (async (events: readonly { accountId: string; kind: string }[]) =>
    events.map(({ accountId, kind }) => ({ kind, record: { accountId, startedAt: STARTED } }))) as unknown as Recorder;
  const judging = budgetJudging({
    accountTerms: { find: async () => ({ hasBlocks: options.hasBudgets ?? true }) },
    send: async (job, delaySeconds = 0) => {
      if (options.fails) throw new Error('down');
      sent.push({ ...job, delaySeconds });
    },
    now: () => now,
  });
  const recorder = withObservers(record, [judging], {
    error: (...[message]: unknown[]) => void errors.push(String(message)),
  });
  const batch = (...events: [accountId: string, kind: string][]) =>
    recorder(events.map(([accountId, kind]) => ({ accountId, kind })) as never);
  return { batch, sent, errors, pass: (ms: number) => (now += ms) };
};

describe('a recorder that has budgets judged', () => {
  it('asks once for each account whose spend changed', async () => {
    const { batch, sent } = watched();
    const results = await batch(['a', 'recorded'], ['a', 'recorded'], ['b', 'recorded'], ['c', 'known']);
    expect(results).toHaveLength(4);
    const since = new Date(START).toISOString();
    expect(sent).toEqual([
      { accountId: 'a', since, oldest: STARTED, delaySeconds: 0 },
      { accountId: 'b', since, oldest: STARTED, delaySeconds: 0 },
    ]);
  });

  it('asks for further changes together, two seconds later, and never misses one', async () => {
    const { batch, sent, pass } = watched();
    const changes: number[] = [];
    for (let at = 0; at < 60_000; at += 300) {
      await batch(['a', 'recorded']);
      changes.push(START + at);
      pass(300);
    }
    // Judged at `since` or later: what changed before is seen.
    const judged = sent.map(({ since }) => Date.parse(since));
    for (const change of changes)
      expect(judged.some((since) => since >= change && since <= change + JUDGING_INTERVAL_MS)).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(60_000 / JUDGING_INTERVAL_MS + 1);
  });

  it('asks for no account without budgets', async () => {
    const { batch, sent } = watched({ hasBudgets: false });
    await batch(['a', 'recorded']);
    expect(sent).toEqual([]);
  });

  it('changes no result when the queue is down, and tries again with the next change', async () => {
    const { batch, errors } = watched({ fails: true });
    for (let n = 0; n < 3; n++) expect(await batch(['a', 'recorded'])).toHaveLength(1);
    expect(errors).toHaveLength(3);
  });
});
