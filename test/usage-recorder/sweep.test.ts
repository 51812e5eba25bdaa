import { beforeEach, describe, expect, it } from '@jest/globals';
import { interceptTable, refusal } from '../../fixtures/intercept-table.ts';
import { openOutbox } from '../../lambda/data/ledger/outbox.ts';
import { OUTBOX_SHARDS, outboxKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { sweepOutbox } from '../../lambda/usage-recorder/sweep/sweep-outbox.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

const table = tableForTests();

const logs: string[] = [];
beforeEach(() => {
  logs.length = 0;
});
const log = (...line: unknown[]) => void logs.push(JSON.stringify(line));

const sweepOver = (of: Table, { now = NOW, remainingMs = 50_000 } = {}) =>
  sweepOutbox({
    outbox: openOutbox(of, () => now),
    record: openRecorder(of, { logger: { error: log }, price: priceOfTokens, now: () => now }),
    logger: { error: log, warn: log },
    metrics: { addMetric: () => {} },
    now: () => now,
  })(() => remainingMs);

const addToOutbox = async (shard: number, requestId: string, event: UsageEvent | string) => {
  await table.call('PutItem', {
    TableName: table.name,
    Item: {
      ...outboxKey(shard, requestId, 'close'),
      event: typeof event === 'string' ? event : JSON.stringify(event),
      parkedAt: '2026-11-20T12:30:00.000Z',
    },
  });
};

const itemsOf = async (pk: string) => {
  const { Items } = await table.call('Query', {
    TableName: table.name,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
  });
  return Items ?? [];
};
const outboxItems = async () =>
  (await Promise.all(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => itemsOf(`PARKED#${shard}`)))).flat();
const requestsOf = async (accountId: string) => total((await ledgerSums(table, accountId, [])).days).requests ?? 0;

describe('sweepOutbox', () => {
  it('records the events of every shard once and removes them, while another sweep runs', async () => {
    const accountId = 'svc_outbox';
    for (let n = 0; n < 300; n++) {
      const event = closeEvent({ accountId, n });
      await addToOutbox(n % OUTBOX_SHARDS, event.requestId, event);
    }
    await Promise.all([sweepOver(table), sweepOver(table)]);
    expect(await requestsOf(accountId)).toBe(300);
    expect(await outboxItems()).toEqual([]);
  });

  it('sets aside text that is not a usage event, with the reason, and continues', async () => {
    const accountId = 'svc_refused';
    const good = closeEvent({ accountId, n: 2 });
    await addToOutbox(3, 'a', '{"secret":');
    await addToOutbox(3, 'b', JSON.stringify({ ...closeEvent({ accountId, n: 1 }), provider: 'nobody' }));
    await addToOutbox(3, good.requestId, good);
    const bad = closeEvent({ accountId, n: 3 });
    await addToOutbox(4, 'c', bad);
    const refusing = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems' && JSON.stringify(command).includes(bad.requestId))
        throw refusal('ValidationException');
      return send();
    });
    await sweepOver(refusing);
    expect(await requestsOf(accountId)).toBe(1);
    expect(await outboxItems()).toEqual([]);
    const refused = await itemsOf('REFUSED#2026-11-20');
    expect(refused.map(({ sk, reason }) => [sk, reason])).toEqual([
      ['a#close', 'Not a usage event: not JSON'],
      ['b#close', 'Not a usage event: provider: invalid_union'],
      ['c#close', 'The table refuses it: ValidationException'],
    ]);
    expect(refused[0]).toMatchObject({ event: '{"secret":', expiresAt: NOW / 1_000 + 90 * 86_400 });
    expect(logs.join()).not.toContain('secret');
  });

  it('leaves an event that cannot be recorded now for the next run, but not forever', async () => {
    const accountId = 'svc_waiting';
    const event = closeEvent({ accountId });
    await addToOutbox(0, event.requestId, event);
    const failing = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems') throw new Error('throttled');
      return send();
    });
    const afterADay = NOW + 23.5 * 3_600_000;
    await sweepOver(failing, { now: afterADay });
    expect(await outboxItems()).toHaveLength(1);
    await sweepOver(table, { remainingMs: 1_000 });
    expect(await outboxItems()).toHaveLength(1);
    await sweepOver(failing, { now: afterADay + 1 });
    expect(await outboxItems()).toEqual([]);
    expect(await itemsOf('REFUSED#2026-11-21')).toEqual([
      expect.objectContaining({ reason: 'Could not be recorded for a day: Error' }),
    ]);
    expect(await requestsOf(accountId)).toBe(0);
  });

  it.each([
    [1, 1],
    [12, 0],
  ])('lets 120 events of %i accounts that cannot be recorded hold up another one or not', async (failing, recorded) => {
    const accountId = `svc_behind_${failing}`;
    for (let n = 0; n < 120; n++) {
      const event = closeEvent({ accountId: `svc_failing_${n % failing}`, n });
      await addToOutbox(5, event.requestId, event);
    }
    const last = closeEvent({ accountId, n: 120 });
    await addToOutbox(5, last.requestId, last);
    const of = interceptTable(table, async (command, send) => {
      if (command.operation === 'GetItem' && JSON.stringify(command).includes('svc_failing_'))
        throw new Error('The item cannot be read.');
      return send();
    });
    await sweepOver(of);
    expect(await requestsOf(accountId)).toBe(recorded);
    const later = NOW + 86_400_000;
    await sweepOver(of, { now: later });
    expect(await outboxItems()).toEqual([]);
  });
});
