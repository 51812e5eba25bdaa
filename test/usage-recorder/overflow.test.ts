import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { closeEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

let table: Awaited<ReturnType<typeof emulatedTable>>;
beforeAll(async () => {
  table = await emulatedTable();
});
afterAll(() => table.stop());

const newRecorder = () => openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => NOW });

describe('an account whose clients send ever new values', () => {
  it('keeps models and keys separate while tags overflow, and loses no request', async () => {
    const accountId = 'svc_tags';
    const record = newRecorder();
    for (let batch = 0; batch < 13; batch++) {
      const results = await record(
        Array.from({ length: 100 }, (_, i) => {
          const n = 100 * batch + i;
          return closeEvent({
            accountId,
            n,
            tokens: 1,
            tag: `user-${n}`,
            reading: { modelServed: `model-${n % 3}` },
          });
        }),
      );
      expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    }
    // A tag that has a spend counter from before the limit keeps it.
    await record([closeEvent({ accountId, n: 5_000, tokens: 1, tag: 'user-0', reading: { modelServed: 'model-0' } })]);
    const { days, hours } = await ledgerSums(table, accountId, []);
    expect(Object.keys(days)).toHaveLength(1_003);
    expect(Object.keys(hours)).toHaveLength(1_003);
    expect(total(days)).toMatchObject({ requests: 1_301, inputTokens: 1_301, overflowRequests: 300 });
    const overflowed = Object.entries(days).filter(([name]) => name.includes(OTHER));
    expect(overflowed.map(([name, { requests }]) => [JSON.parse(name).slice(2, 4), requests]).sort()).toEqual(
      [0, 1, 2].map((n) => [[`model-${n}`, OTHER], 100]),
    );
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
});
