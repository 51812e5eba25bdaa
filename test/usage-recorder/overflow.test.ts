import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { accountKey, counterSlotsKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { contributionOf } from '../../lambda/domain/spend/contribution.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from './events.ts';
import { ledgerSums, spendCounterText, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

const table = tableForTests();

const newRecorder = () => openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => NOW });

describe('an account whose clients send ever new values', () => {
  it('keeps models and keys separate while tags overflow, and loses no request', async () => {
    const accountId = 'svc_tags';
    const record = newRecorder();
    for (let batch = 0; batch < 13; batch++) {
      const events = Array.from({ length: 100 }, (_, i) => {
        const n = 100 * batch + i;
        return closeEvent({ accountId, n, tokens: 1, tag: `user-${n}`, reading: { modelServed: `model-${n % 3}` } });
      });
      // It comes first, but requests with a cost take the last slots.
      const refused = closeEvent({ accountId, n: 9_000, status: 401, reading: { usage: null, modelServed: null } });
      const results = await record(batch === 9 ? [refused, ...events] : events);
      expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    }
    // A tag that has a spend counter from before the limit keeps it.
    await record([closeEvent({ accountId, n: 5_000, tokens: 1, tag: 'user-0', reading: { modelServed: 'model-0' } })]);
    const { days, hours } = await ledgerSums(table, accountId, []);
    expect(Object.keys(days)).toHaveLength(1_004);
    expect(Object.keys(hours)).toHaveLength(1_004);
    expect(total(days)).toMatchObject({ requests: 1_302, inputTokens: 1_301, overflowRequests: 301 });
    const overflowed = Object.entries(days).filter(([name]) => name.includes(OTHER));
    expect(overflowed.map(([name, { requests }]) => [JSON.parse(name).slice(2, 4), requests]).sort()).toEqual([
      [[OTHER, OTHER], 1],
      ...[0, 1, 2].map((n) => [[`model-${n}`, OTHER], 100]),
    ]);
    expect(days[JSON.stringify(['2026-11-20', 'openai', 'model-0', 'user-0', 'key-1', 'fingerprint'])]).toMatchObject({
      requests: 2,
    });
  });

  it('stays within the limits with many recorders at once, each with its own cache', async () => {
    const accountId = 'svc_all';
    const recorders = Array.from({ length: 8 }, newRecorder);
    await Promise.all(
      recorders.map(async (record, worker) => {
        for (let batch = 0; batch < 4; batch++) {
          const events = Array.from({ length: 80 }, (_, i) => {
            const n = 10_000 * worker + 100 * batch + i;
            return closeEvent({
              accountId,
              n,
              tokens: 1,
              provider: n % 2 ? 'openai' : 'groq',
              tag: `t${n}`,
              keyId: `k${n}`,
              providerKey: `p${n}`,
              reading: { modelServed: `m${n}` },
            });
          });
          for (let pending = events; pending.length > 0; ) {
            const results = await record(pending);
            pending = pending.filter((_, i) => results[i]?.kind === 'failed');
          }
        }
      }),
    );
    const { days } = await ledgerSums(table, accountId, []);
    expect(total(days)).toMatchObject({ requests: 2_560, overflowRequests: 1_560 });
    expect(Object.keys(days).length).toBeLessThanOrEqual(1_752);
    const everythingOverflowed = Object.keys(days).filter((name) => name.split(OTHER).length === 5);
    expect(everythingOverflowed).toHaveLength(2);
  });

  const sumsOfModel = async (accountId: string, model: string) => {
    const { days, hours } = await ledgerSums(table, accountId, []);
    const sumOf = (counters: typeof days) =>
      total(Object.fromEntries(Object.entries(counters).filter(([name]) => JSON.parse(name)[2] === model)));
    expect(sumOf(hours)).toEqual(sumOf(days));
    return sumOf(days);
  };

  /** Requests with ever new credentials, in batches as the queue delivers them. */
  const flood = async (count: number, facts: Parameters<typeof closeEvent>[0], from = 1_000) => {
    const record = newRecorder();
    for (let batch = 0; batch < count / 100; batch++) {
      const results = await record(
        Array.from({ length: 100 }, (_, i) => {
          const n = from + 100 * batch + i;
          return closeEvent({ n, providerKey: `invented-${n}`, ...facts });
        }),
      );
      expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    }
  };

  it.each([
    ['refused', { status: 401 as const }],
    ['aborted before their response', { status: null, outcome: 'client_aborted' as const }],
  ])('keeps spend separate after 400 requests that were %s: more than have slots', async (name, facts) => {
    const accountId = `svc_${name}`;
    await flood(400, { accountId, ...facts, reading: { usage: null, modelServed: null, modelRequested: 'any' } });
    await newRecorder()([closeEvent({ accountId, n: 1, tokens: 1_000, tag: 'prod' })]);
    expect(await sumsOfModel(accountId, 'gpt-4o-2024-08-06')).toMatchObject({
      requests: 1,
      costComputedNanoUsd: 7_000,
    });
    const { days } = await ledgerSums(table, accountId, []);
    // 250 of the requests have counters of their own, the others one for their provider.
    expect(Object.keys(days)).toHaveLength(252);
    expect(total(days)).toMatchObject({ requests: 401, overflowRequests: 150 });
  });

  it('finds slots for the combinations of recent days, whatever is new', async () => {
    const accountId = 'svc_recent';
    const yesterday = '2026-11-19T12:00:00.000Z';
    const known = (startedAt: string, n: number) =>
      Array.from({ length: 3 }, (_, i) => closeEvent({ accountId, n: n + i, startedAt, tokens: 1, tag: `known-${i}` }));
    await newRecorder()(known(yesterday, 0));
    await flood(1_800, { accountId, tag: 'new' });
    await newRecorder()([...known('2026-11-20T12:30:00.000Z', 10), closeEvent({ accountId, n: 20, tag: 'late' })]);
    const { days } = await ledgerSums(table, accountId, []);
    const tagsOfToday = Object.keys(days)
      .filter((name) => name.includes('2026-11-20'))
      .map((name) => JSON.parse(name)[3]);
    expect(tagsOfToday).toEqual(expect.arrayContaining(['known-0', 'known-1', 'known-2', OTHER]));
    expect(tagsOfToday).not.toContain('late');
    expect(tagsOfToday.length).toBeLessThanOrEqual(1_751);
  });

  it('keeps no slot for a combination of recent days that has come', async () => {
    const accountId = 'svc_come';
    const facts = { accountId, tokens: 1 };
    const known = { ...facts, tag: 'known' };
    await flood(100, { ...known, startedAt: '2026-11-19T12:00:00.000Z' });
    await flood(800, { ...facts, tag: 'new' }, 2_000);
    const eventOf = (n: number, of: typeof known) => closeEvent({ ...of, n, providerKey: `invented-${n}` });
    await newRecorder()([
      ...Array.from({ length: 100 }, (_, i) => eventOf(1_000 + i, known)),
      ...Array.from({ length: 100 }, (_, i) => eventOf(3_000 + i, { ...facts, tag: 'last' })),
    ]);
    expect(total((await ledgerSums(table, accountId, [])).days).overflowRequests).toBeUndefined();
  });

  it('keeps the names of active alert rules at every level', async () => {
    const accountId = '018f0000-0000-7000-8000-00000000000a';
    const rules = openRules(table);
    await table.call('PutItem', { TableName: table.name, Item: accountKey(accountId) });
    const rule = (ruleId: string, filter: object, isActive = true) =>
      ruleOf(accountId, { ruleId, isActive, config: { threshold: 1, period: 'daily', filter } });
    await rules.create(rule('by-tag', { tag: 'prod' }));
    await rules.create(rule('by-both', { model: 'dear', tag: 'night' }));
    await rules.create(rule('inactive', { tag: 'off' }, false));
    const record = newRecorder();
    for (let batch = 0; batch < 19; batch++)
      await record(
        Array.from({ length: 100 }, (_, i) => {
          const n = 100 * batch + i;
          return closeEvent({
            accountId,
            n,
            tokens: 1,
            tag: `t${n}`,
            keyId: `k${n}`,
            providerKey: `p${n}`,
            reading: { modelServed: `m${n}` },
          });
        }),
      );
    const late = [
      { tag: 'prod', model: 'any' },
      { tag: 'night', model: 'dear' },
      { tag: 'night', model: 'cheap' },
      { tag: 'off', model: 'any' },
    ];
    const results = await record(
      late.map(({ tag, model }, i) => closeEvent({ accountId, n: 9_000 + i, tag, reading: { modelServed: model } })),
    );
    expect(
      results.map(
        (result) => result.kind === 'recorded' && [result.record.overflowLevel, result.record.keptDimensions],
      ),
    ).toEqual([
      [4, ['tag']],
      [4, ['tag', 'model']],
      [4, undefined],
      [4, undefined],
    ]);
    const { days } = await ledgerSums(table, accountId, []);
    const named = Object.entries(days).filter(([name]) => JSON.parse(name)[4] === OTHER);
    expect(named.map(([name, { requests }]) => [...JSON.parse(name).slice(2, 4), requests]).sort()).toEqual([
      [OTHER, OTHER, 152],
      [OTHER, 'prod', 1],
      ['dear', 'night', 1],
    ]);
    // A stored record contributes to the counter that it was counted in.
    const recorded = results.flatMap((result) => (result.kind === 'recorded' ? result.record : []));
    const stored = await openRequests(table).findMany(recorded, { consistent: true });
    const namesOf = (records: typeof recorded) =>
      new Set(records.map((each) => spendCounterText('2026-11-20', contributionOf(each).dimensions)));
    expect(namesOf(stored)).toEqual(namesOf(recorded));
    expect(Object.keys(days)).toEqual(expect.arrayContaining([...namesOf(stored)]));
  });

  it('counts a tag or model that is literally `(other)` as a name of its own', async () => {
    const accountId = 'svc_literal';
    await newRecorder()([closeEvent({ accountId, tag: OTHER, reading: { modelServed: OTHER } })]);
    const { days } = await ledgerSums(table, accountId, []);
    expect(Object.keys(days).map((name) => JSON.parse(name).slice(2, 4))).toEqual([['\\(other)', '\\(other)']]);
    // Slots live until long after the last event of their day.
    const slots = await findItem(table, counterSlotsKey(accountId, '2026-11-20'));
    expect(slots).toMatchObject({ expiresAt: Date.parse('2026-11-21T00:00:00Z') / 1_000 + 60 * 86_400 });
  });
});
