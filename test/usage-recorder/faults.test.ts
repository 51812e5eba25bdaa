import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import { cancelled, conditionFailed, interceptTable } from '../../fixtures/intercept-table.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { update } from '../../lambda/data/table/actions.ts';
import {
  countedResponseKey,
  type Key,
  requestKey,
  reservedBudgetKey,
  serviceKeyKey,
} from '../../lambda/data/table/keys.ts';
import type { Table, TableCommand } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { newAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { addCounters, type Counters } from '../../lambda/domain/spend/counters.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { duePeriods } from '../data/roll-up.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

const table = tableForTests();

const recorderOver = (of: Table) =>
  openRecorder(of, { logger: { error: () => {} }, price: priceOfTokens, now: () => NOW });

/** A recorder whose calls of the table go through a function. */
const recorderThrough = (handle: Parameters<typeof interceptTable>[1]) => recorderOver(interceptTable(table, handle));

const actionsOf = (command: TableCommand): number =>
  command.operation === 'TransactWriteItems' ? (command.input.TransactItems?.length ?? 0) : 0;

let accounts = 0;
const newEvents = (count: number) => {
  const accountId = `svc_${++accounts}`;
  return { accountId, events: Array.from({ length: count }, (_, n) => closeEvent({ accountId, n, tokens: 1 })) };
};
const requestsOf = async (accountId: string) => total((await ledgerSums(table, accountId, [])).days).requests ?? 0;

const itemAt = async (key: Key): Promise<Record<string, unknown>> => {
  const { Item = {} } = await table.call('GetItem', { TableName: table.name, Key: { ...key } });
  return Item;
};
/** The details of a record with a provenance of a later version. */
const withProvenance = ({ details }: Record<string, unknown>, provenance: string): Buffer =>
  deflateRawSync(JSON.stringify({ ...JSON.parse(inflateRawSync(details as Uint8Array).toString()), provenance }));

describe('the recorder over a table that fails', () => {
  it('retries after a conflict with another transaction', async () => {
    let conflicts = 2;
    const { accountId, events } = newEvents(3);
    const record = recorderThrough(async (command, send) => {
      if (actionsOf(command) > 0 && conflicts-- > 0)
        throw cancelled(['None', 'None', 'None', 'TransactionConflict', 'None', 'None']);
      return send();
    });
    expect((await record(events)).map(({ kind }) => kind)).toEqual(['recorded', 'recorded', 'recorded']);
    expect(await requestsOf(accountId)).toBe(3);
  });

  it('retries for longer where gateways reserve from the same budget all the time', async () => {
    const { accountId, events } = newEvents(3);
    const [budgetId, periodId] = ['budget-1', 'monthly#2026-11'];
    const reservation = { budgetId, periodId, minute: 1, nanoUsd: 10, unknownNanoUsd: 0 };
    const item = reservedBudgetKey(accountId, budgetId, periodId);
    await table.call('PutItem', { TableName: table.name, Item: { ...item, committed: 30, m1: 30 } });
    const noDelay = jest.spyOn(Math, 'random').mockReturnValue(0);
    let conflicts = 60;
    const record = recorderThrough(async (command, send) => {
      if (command.operation === 'TransactWriteItems' && conflicts-- > 0)
        throw cancelled(
          (command.input.TransactItems ?? []).map(({ Update }) =>
            Update?.Key?.['sk'] === item.sk ? 'TransactionConflict' : 'None',
          ),
        );
      return send();
    });
    const results = await record(events.map((event) => ({ ...event, reservations: [reservation] })));
    noDelay.mockRestore();
    expect(results.map(({ kind }) => kind)).toEqual(['recorded', 'recorded', 'recorded']);
    expect(await itemAt(item)).toMatchObject({ committed: 21, finished: 21, m1: 0 });
  });

  it('gives up in the end without writing, and reports a failure that is not permanent', async () => {
    const { accountId, events } = newEvents(2);
    const throttled = recorderThrough(async (command, send) => {
      if (actionsOf(command) > 0) throw cancelled(['None', 'None', 'ThrottlingError', 'None', 'None']);
      return send();
    });
    const results = await throttled(events);
    expect(results).toEqual(events.map(() => expect.objectContaining({ kind: 'failed', permanent: false })));
    expect(await requestsOf(accountId)).toBe(0);
    expect((await recorderOver(table)(events)).every(({ kind }) => kind === 'recorded')).toBe(true);
    expect(await requestsOf(accountId)).toBe(2);
  });

  it('counts a request once where the response to the write is lost', async () => {
    const { accountId, events } = newEvents(5);
    let lost = false;
    const record = recorderThrough(async (command, send) => {
      const response = await send();
      if (actionsOf(command) === 0 || lost) return response;
      lost = true;
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
    });
    expect((await record(events)).map(({ kind }) => kind)).toEqual(events.map(() => 'known'));
    expect(await requestsOf(accountId)).toBe(5);
  });

  it('records all events but the one that the table never accepts', async () => {
    const { accountId, events } = newEvents(9);
    const bad = closeEvent({ accountId, n: 99, method: randomBytes(450_000).toString('base64') });
    const results = await recorderOver(table)([...events.slice(0, 4), bad, ...events.slice(4)]);
    expect(results.map(({ kind }) => kind)).toEqual([
      ...events.slice(0, 4).map(() => 'recorded'),
      'failed',
      ...events.slice(4).map(() => 'recorded'),
    ]);
    expect(results[4]).toMatchObject({ permanent: true });
    expect(await requestsOf(accountId)).toBe(9);
  });

  it('keeps one account going while the table fails for another', async () => {
    const broken = newEvents(2);
    const sound = newEvents(2);
    const record = recorderThrough(async (command, send) => {
      if (JSON.stringify(command).includes(`${broken.accountId}"`)) throw new Error('down');
      if (JSON.stringify(command).includes(`ACCOUNT#${broken.accountId}#`)) throw new Error('down');
      return send();
    });
    const results = await record([broken.events[0], sound.events[0], broken.events[1], sound.events[1]].map((e) => e!));
    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'recorded', 'failed', 'recorded']);
    expect(await requestsOf(sound.accountId)).toBe(2);
    expect(await requestsOf(broken.accountId)).toBe(0);
  });

  it('writes events of many accounts in few transactions, and separates the account that conflicts', async () => {
    const batches = Array.from({ length: 12 }, () => newEvents(2));
    const busy = batches[4]?.accountId ?? '';
    const sizes: number[] = [];
    let conflicts = 2;
    const record = recorderThrough(async (command, send) => {
      if (actionsOf(command) === 0) return send();
      sizes.push(actionsOf(command));
      if (JSON.stringify(command).includes(`ACCOUNT#${busy}#`) && conflicts-- > 0)
        throw cancelled(
          Array.from({ length: actionsOf(command) }, (_, i) => (i === 30 ? 'TransactionConflict' : 'None')),
        );
      return send();
    });
    const results = await record(batches.flatMap(({ events }) => events));
    expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    // First all together, then each alone (two records, three spend counters, a month), and the busy one once more.
    expect(sizes).toEqual([72, ...Array.from({ length: 13 }, () => 6)]);
    for (const { accountId } of batches) expect(await requestsOf(accountId)).toBe(2);
  });

  it('records other accounts where an account id is impossible', async () => {
    const { accountId, events } = newEvents(2);
    const foreign = ['x'.repeat(3_000), 'svc_\ud800'].map((id) => openEvent({ accountId: id }));
    const results = await recorderOver(table)([...foreign, ...events]);
    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'recorded', 'recorded']);
    expect(results[0]).toMatchObject({ permanent: true });
    expect(await requestsOf(accountId)).toBe(2);
  });

  it('never conflicts with itself: transactions of one batch that update the same item run in sequence', async () => {
    const underWay = new Set<string>();
    let conflicts = 0;
    let together = 0;
    const record = recorderThrough(async (command, send) => {
      if (command.operation !== 'TransactWriteItems') return send();
      const keys = (command.input.TransactItems ?? []).map(({ Put, Update }) => {
        const key = Put?.Item ?? Update?.Key;
        return `${key?.['pk']} ${key?.['sk']}`;
      });
      // DynamoDB does this. The emulator does not, because it runs one transaction at a time.
      if (keys.some((key) => underWay.has(key))) {
        conflicts += 1;
        throw cancelled(keys.map(() => 'TransactionConflict'));
      }
      together += Number(underWay.size > 0);
      for (const key of keys) underWay.add(key);
      try {
        return await send();
      } finally {
        for (const key of keys) underWay.delete(key);
      }
    });
    const batches = [250, 40, 40, 40].map(newEvents);
    const results = await record(batches.flatMap(({ events }) => events));
    expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    for (const { accountId, events } of batches) expect(await requestsOf(accountId)).toBe(events.length);
    expect(conflicts).toBe(0);
    // Transactions of different accounts still run at the same time.
    expect(together).toBeGreaterThan(0);
  });

  it('fails only the day whose counter slots cannot be reserved', async () => {
    const { accountId, events } = newEvents(2);
    const yesterday = closeEvent({ accountId, n: 50, startedAt: '2026-11-19T12:00:00.000Z' });
    const down = new Error('down');
    const record = recorderThrough(async (command, send) => {
      if (command.operation === 'GetItem' && command.input.Key?.['sk'] === 'CELLS#2026-11-19') throw down;
      return send();
    });
    const results = await record([yesterday, ...events]);
    expect(results).toMatchObject([{ kind: 'failed', permanent: false }, { kind: 'recorded' }, { kind: 'recorded' }]);
    expect(results[0]).toHaveProperty('error', down);
    expect(await requestsOf(accountId)).toBe(2);
  });

  it('gives up where other writers keep reserving slots of the day', async () => {
    const { accountId, events } = newEvents(1);
    const noDelay = jest.spyOn(Math, 'random').mockReturnValue(0);
    let attempts = 0;
    const record = recorderThrough(async (command, send) => {
      if (command.operation !== 'UpdateItem') return send();
      attempts += 1;
      throw conditionFailed();
    });
    const results = await record(events).finally(() => noDelay.mockRestore());
    expect(results).toMatchObject([{ kind: 'failed', permanent: false, error: { name: 'SlotContentionError' } }]);
    expect(attempts).toBe(10);
    expect(await requestsOf(accountId)).toBe(0);
  });

  it('completes a record that reads do not show yet', async () => {
    const { accountId, events } = newEvents(1);
    await recorderOver(table)([openEvent({ accountId, n: 0 })]);
    const record = recorderThrough(async ({ operation, input }, send) => {
      const reads = operation === 'BatchGetItem' ? Object.values(input.RequestItems ?? {}) : [];
      const isLate = reads.some(({ ConsistentRead }) => ConsistentRead !== true);
      return isLate ? { Responses: {} } : send();
    });
    expect(await record(events)).toMatchObject([{ kind: 'recorded', record: { outcome: 'completed', revision: 2 } }]);
    expect(await requestsOf(accountId)).toBe(1);
  });

  it('gives up on a record that changes in every round', async () => {
    const { accountId, events } = newEvents(1);
    let rounds = 0;
    const record = recorderThrough(async (command, send) => {
      if (actionsOf(command) === 0) return send();
      rounds += 1;
      throw cancelled(['ConditionalCheckFailed', 'None', 'None', 'None']);
    });
    const results = await record(events);
    expect(results).toMatchObject([{ kind: 'failed', permanent: false, error: { name: 'RecordContentionError' } }]);
    expect(rounds).toBe(6);
    expect(await requestsOf(accountId)).toBe(0);
  });

  it('fails only the events whose owner cannot be read', async () => {
    const { accountId, events } = newEvents(1);
    const hashes = [1, 2, 3].map(() => secretHash(newAccountKey(randomBytes)));
    const [throttled = '', unreadable = '', sound = ''] = hashes;
    const owner = { accountId, keyId: 'key-1' };
    await table.call('PutItem', { TableName: table.name, Item: { ...serviceKeyKey(unreadable), owner } });
    await table.call('PutItem', { TableName: table.name, Item: { ...serviceKeyKey(sound), ...owner } });
    const record = recorderThrough(async (command, send) => {
      // The table throttles one partition.
      if (command.operation === 'BatchGetItem' && JSON.stringify(command).includes(throttled))
        return { UnprocessedKeys: command.input.RequestItems };
      return send();
    });
    const unverified = hashes.map((unverifiedKeyHash, n) =>
      closeEvent({ accountId: null, keyId: null, unverifiedKeyHash, n: 10 + n }),
    );
    expect(await record([...events, ...unverified])).toMatchObject([
      { kind: 'recorded' },
      { kind: 'failed', permanent: false, error: { name: 'BatchReadError' } },
      { kind: 'failed', permanent: true, error: { name: 'UnreadableItemError' } },
      { kind: 'recorded' },
    ]);
    expect(await requestsOf(accountId)).toBe(2);
  });

  it('fails only the events that must be read first while the table cannot read', async () => {
    const { accountId, events } = newEvents(2);
    const unverifiedKeyHash = secretHash(newAccountKey(randomBytes));
    let reads = 0;
    const record = recorderThrough(async (command, send) => {
      if (command.operation !== 'BatchGetItem') return send();
      reads += 1;
      throw new Error('down');
    });
    const unverified = closeEvent({ accountId: null, keyId: null, unverifiedKeyHash, n: 2 });
    const opens = [3, 4].map((n) => openEvent({ accountId, n }));
    const down = { kind: 'failed', permanent: false, error: { message: 'down' } };
    expect(await record([...events, unverified, ...opens])).toMatchObject([
      { kind: 'recorded' },
      { kind: 'recorded' },
      ...[down, down, down],
    ]);
    expect(reads).toBe(2);
  });

  it('fails only the event whose record or counted response cannot be read', async () => {
    const [broken, sound] = [newEvents(3), newEvents(3)];
    const put = (Item: Record<string, unknown>) => table.call('PutItem', { TableName: table.name, Item });
    const keyOf = ({ n, accountId }: { n: number; accountId: string }) =>
      requestKey(accountId, '2026-11-20', closeEvent({ n }).requestId);
    // One is damaged, one has another form, and one was counted in a way that this version cannot take back.
    await put({ ...keyOf({ ...broken, n: 0 }), revision: 1, expiresAt: 1, details: Buffer.from('damaged') });
    await put({ ...keyOf({ ...broken, n: 1 }), revision: 1, expiresAt: 1, form: 9 });
    await recorderOver(table)([openEvent({ accountId: broken.accountId, n: 2 })]);
    await write(
      table,
      update(keyOf({ ...broken, n: 2 }), 'SET details = :details', null, {
        details: withProvenance(await itemAt(keyOf({ ...broken, n: 2 })), 'guessed'),
      }),
    );
    await put({ ...countedResponseKey(broken.accountId, 'openai', 'resp_1'), form: 9 });
    const fetched = (accountId: string) =>
      closeEvent({
        accountId,
        n: 5,
        method: 'GET',
        reading: { dialect: 'openai-responses', billableItems: { 'response.id': 'resp_1' } },
      });
    const ofBoth = [
      ...broken.events,
      ...[0, 1].map((n) => openEvent({ accountId: broken.accountId, n })),
      fetched(broken.accountId),
      ...sound.events,
      openEvent({ accountId: sound.accountId, n: 9 }),
      fetched(sound.accountId),
    ];
    const before = await ledgerSums(table, broken.accountId, []);
    const results = await recorderOver(table)(ofBoth);
    const unreadable = { kind: 'failed', permanent: true, error: { name: 'UnreadableItemError' } };
    expect(results).toMatchObject([
      ...Array.from({ length: 6 }, () => unreadable),
      ...Array.from({ length: 5 }, () => ({ kind: 'recorded' })),
    ]);
    expect(await ledgerSums(table, broken.accountId, [])).toEqual(before);
    expect(await requestsOf(sound.accountId)).toBe(5);
  });

  it('knows the event of a finished record that has names of a later version, and keeps them', async () => {
    const { accountId, events } = newEvents(1);
    await recorderOver(table)(events);
    const key = requestKey(accountId, '2026-11-20', events[0]?.requestId ?? '');
    const item = await itemAt(key);
    await table.call('PutItem', { TableName: table.name, Item: { ...item, details: withProvenance(item, 'guessed') } });
    expect(await recorderOver(table)([...events, openEvent({ accountId, n: 0 })])).toMatchObject([
      { kind: 'known' },
      { kind: 'known' },
    ]);
    expect(await itemAt(key)).toMatchObject({ revision: 1 });
  });

  it('records a request whose price cannot be computed as unpriced, and logs its id', async () => {
    const { accountId, events } = newEvents(2);
    const logger = { error: jest.fn() };
    const record = openRecorder(table, {
      logger,
      price: (event) => {
        if (event.reading === events[0]?.reading) throw new RangeError('secret');
        return priceOfTokens(event);
      },
      now: () => NOW,
    });
    expect(await record(events)).toMatchObject([
      { kind: 'recorded', record: { provenance: 'unknown', reason: 'The price could not be computed.' } },
      { kind: 'recorded', record: { provenance: 'computed' } },
    ]);
    expect(logger.error.mock.calls).toEqual([
      ['Pricing failed', { requestId: events[0]?.requestId, errorName: 'RangeError' }],
    ]);
    expect(total((await ledgerSums(table, accountId, [])).days)).toMatchObject({ requests: 2, unpricedRequests: 1 });
  });

  it('writes a busy account in few transactions within the limits', async () => {
    const sizes: number[] = [];
    const { accountId, events } = newEvents(250);
    const record = recorderThrough((command, send) => {
      if (actionsOf(command) > 0) sizes.push(actionsOf(command));
      return send();
    });
    await record([...events, openEvent({ accountId, n: 1 })]);
    // All share a counter of the hour, one of the day, one of the client's hour, and a month counter.
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(250 + 3 * 4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
    expect(await requestsOf(accountId)).toBe(250);
  });
});

describe('a recorder that stands still across midnight', () => {
  const MIDNIGHT = Date.parse('2026-11-21T00:00:00Z');
  const rolledUpAt = MIDNIGHT + 3_600_001;

  const marksOf = async (id: string, now: number) =>
    (await duePeriods(table, now)).filter(({ accountId }) => accountId === id);
  const rollUp = async (accountId: string, now: number) => {
    const results: unknown[] = [];
    for (const mark of await marksOf(accountId, now)) results.push(await openRollup(table, () => now).rollUp(mark));
    return results;
  };
  const spendOfDay = async (accountId: string) => {
    let sum: Counters = {};
    const range = { granularity: 'day', from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' } as const;
    for await (const { counters } of openSpend(table).read({ accountId, range, groupBy: [], latency: true }))
      sum = addCounters(sum, counters);
    return sum;
  };
  const at = { startedAt: '2026-11-20T23:59:59.000Z', tokens: 1 };

  it.each([
    ['a request', [closeEvent({ n: 1, ...at })], [closeEvent({ n: 2, ...at }), closeEvent({ n: 3, ...at })], 3],
    [
      'the end of a request',
      [closeEvent({ n: 1, ...at }), openEvent({ n: 2, ...at })],
      [closeEvent({ n: 2, ...at })],
      2,
    ],
  ])('leaves no stale summary where it then writes %s', async (_, before, held, requests) => {
    const { accountId } = newEvents(0);
    const ofAccount = (events: readonly UsageEvent[]) => events.map((event) => ({ ...event, accountId }));
    const writes: number[] = [];
    let isHeld = false;
    // Its clock stands still too: a recorder cannot rely on it.
    const record = openRecorder(
      interceptTable(table, async (command, send) => {
        if (actionsOf(command) === 0) return send();
        if (isHeld && writes.length === 0) expect(await rollUp(accountId, rolledUpAt)).toEqual(['rolled-up']);
        if (isHeld) writes.push(actionsOf(command));
        return send();
      }),
      { logger: { error: () => {} }, price: priceOfTokens, now: () => MIDNIGHT - 500 },
    );
    await record(ofAccount(before));
    isHeld = true;
    expect((await record(ofAccount(held))).every(({ kind }) => kind === 'recorded')).toBe(true);
    const expected = { requests, inputTokens: requests, costComputedNanoUsd: 7 * requests };
    expect(await spendOfDay(accountId)).toMatchObject(expected);
    expect(await spendOfDay(accountId)).not.toHaveProperty('unfinishedRequests');
    expect(await rollUp(accountId, rolledUpAt + 3_600_000)).toContain('rolled-up');
    expect(await spendOfDay(accountId)).toMatchObject(expected);
    const periods = (await marksOf(accountId, rolledUpAt + 7_200_000)).map(({ period }) => period);
    expect(periods).not.toContain('2026-11-20');
  });
});
