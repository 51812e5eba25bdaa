import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { newAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { consumeMessages } from '../../lambda/usage-recorder/consume-messages.ts';
import { openRecorder, type Recorder } from '../../lambda/usage-recorder/recorder.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

const table = tableForTests();

const logs: string[] = [];
const deadLetters: string[] = [];
let counted: Record<string, number> = {};
beforeEach(() => {
  logs.length = 0;
  deadLetters.length = 0;
  counted = {};
});

const messages = (bodies: readonly unknown[]): SQSEvent =>
  ({
    Records: bodies.map((body, i) => ({
      messageId: `m${i}`,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })),
  }) as SQSEvent;

const giveUp = async (text: string) => `dead-${deadLetters.push(text)}`;

const log = (...line: unknown[]) => void logs.push(JSON.stringify(line));
const recorder = openRecorder(table, { logger: { error: log }, price: priceOfTokens, now: () => NOW });

const consume = (bodies: readonly unknown[], send = giveUp, record: Recorder = recorder) =>
  consumeMessages({
    giveUp: send,
    record,
    logger: { error: log, warn: log },
    metrics: {
      addMetric: (name, _unit, value) => {
        counted[name] = (counted[name] ?? 0) + value;
      },
    },
  })(messages(bodies));

const requestsOf = async (accountId: string) => total((await ledgerSums(table, accountId, [])).days).requests ?? 0;

describe('a message of several events', () => {
  it('records each, and sends poison among them to the dead letters alone', async () => {
    const accountId = 'svc_several';
    const poison = { ...closeEvent({ accountId, n: 2, tag: '\uffff' }), status: 'many' };
    const several = [closeEvent({ accountId, n: 1 }), poison, openEvent({ accountId, n: 3 })];
    expect(await consume([several, closeEvent({ accountId, n: 4 }), []])).toEqual({ batchItemFailures: [] });
    expect(await requestsOf(accountId)).toBe(3);
    expect(deadLetters.map((text) => JSON.parse(text))).toEqual([poison, []]);
    // SQS takes no U+FFFF.
    expect(deadLetters.join('')).toMatch(/^[ -~]*$/);
    // A duplicate changes nothing.
    await consume([[closeEvent({ accountId, n: 1 }), closeEvent({ accountId, n: 4 })]]);
    expect(await requestsOf(accountId)).toBe(3);
  });

  it('is delivered again while one of them fails, and gives up nothing before that', async () => {
    const accountId = 'svc_several_failing';
    const several = [closeEvent({ accountId, n: 1 }), closeEvent({ accountId, n: 2 }), { poison: true }];
    const failing: Recorder = async (events) =>
      events.map((_, index) =>
        index === 1 ? { kind: 'failed', error: new Error('throttled'), permanent: false } : { kind: 'known' },
      );
    expect(await consume([several], giveUp, failing)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(deadLetters).toEqual([]);
    // Delivered again, all is well but the poison.
    expect(await consume([several])).toEqual({ batchItemFailures: [] });
    expect([await requestsOf(accountId), deadLetters]).toEqual([2, ['{"poison":true}']]);
  });
});

describe('consumeMessages', () => {
  it('records the rest of a batch where some messages are poison, and sends those to the dead letters at once', async () => {
    const accountId = 'svc_poison';
    const secret = 'sk-do-not-log';
    const poison = [
      `{"requestId": "${secret}`,
      JSON.stringify({ ...closeEvent({ accountId, n: 2 }), status: secret }),
      JSON.stringify({ ...closeEvent({ accountId, n: 3 }), kind: 'other' }),
      'null',
    ];
    const batch = [closeEvent({ accountId, n: 1 }), ...poison, closeEvent({ accountId, n: 4 })];
    expect(await consume(batch)).toEqual({ batchItemFailures: [] });
    expect(deadLetters).toEqual(poison);
    expect(await requestsOf(accountId)).toBe(2);
    expect(logs).toHaveLength(8);
    expect(logs[0]).toContain('"messageId":"m1","issues":["not JSON"]');
    expect(logs[1]).toContain('"messageId":"m2","issues":["status: invalid_type"]');
    expect(logs[4]).toContain('"messageId":"m1","deadLetterId":"dead-1"');
    expect(logs.join()).not.toContain(secret);
    expect(counted).toEqual({ PoisonMessages: 4, RecordedEvents: 2 });
  });

  it('returns what the dead letters do not take', async () => {
    const response = await consume(['x', 'y'], (text) =>
      text === 'x' ? Promise.reject(new Error('down')) : giveUp(text),
    );
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(deadLetters).toEqual(['y']);
  });

  it('finds the account of events with an unverified key, also of a revoked one', async () => {
    const serviceKey = newAccountKey(randomBytes);
    const accountId = 'svc_unverified';
    await table.call('PutItem', {
      TableName: table.name,
      Item: {
        ...serviceKeyKey(secretHash(serviceKey)),
        accountId,
        keyId: 'key-9',
        keyStatus: 'revoked',
        accountStatus: 'suspended',
      },
    });
    const unverified = { accountId: null, keyId: null, unverifiedKeyHash: secretHash(serviceKey) };
    expect(await consume([closeEvent({ ...unverified, n: 1 }), openEvent({ ...unverified, n: 1 })])).toEqual({
      batchItemFailures: [],
    });
    const { days } = await ledgerSums(table, accountId, []);
    expect(Object.keys(days)).toEqual([expect.stringContaining('"key-9"')]);
    expect(total(days).requests).toBe(1);
    const stored = JSON.stringify(await table.call('Scan', { TableName: table.name }));
    expect(stored).not.toContain(serviceKey);
  });

  it('drops events of unknown keys: counts them, and logs each once without the key', async () => {
    const unknownKey = newAccountKey(randomBytes);
    const response = await consume([
      closeEvent({ accountId: null, keyId: null, unverifiedKeyHash: secretHash(unknownKey), n: 1 }),
      closeEvent({ accountId: null, keyId: null, unverifiedKeyHash: 'nonsense \ud800', n: 2 }),
      closeEvent({ accountId: null, keyId: null, n: 3 }),
      closeEvent({ accountId: 'svc_other', n: 4 }),
    ]);
    expect(response).toEqual({ batchItemFailures: [] });
    expect(counted).toEqual({ UnownedEvents: 3, RecordedEvents: 1 });
    expect(logs).toHaveLength(3);
    expect(logs.join()).not.toContain(unknownKey);
  });

  it('counts events by result', async () => {
    const accountId = 'svc_metrics';
    await consume([
      openEvent({ accountId, n: 1 }),
      closeEvent({ accountId, n: 2, reading: { usage: null } }),
      closeEvent({ accountId, n: 3 }),
      closeEvent({ accountId, n: 3 }),
      closeEvent({ accountId, n: 4, startedAt: '2025-01-01T00:00:00.000Z' }),
    ]);
    expect(counted).toEqual({
      // Both copies of a message are recorded by one write.
      RecordedEvents: 4,
      UnfinishedRequests: 1,
      ExpiredEvents: 1,
    });
  });

  it('sends events that the table refuses to the dead letters, and counts untracked requests', async () => {
    const untracked = {
      version: 1,
      kind: 'untracked',
      requestId: '01a1f8ca-c240-7000-8000-00000000005a',
      accountId: 'svc_gaps',
      from: '2026-11-20T12:00:00.000Z',
      to: '2026-11-20T12:01:00.000Z',
      requests: 7,
    };
    const response = await consume([
      untracked,
      openEvent({ accountId: 'x'.repeat(3_000) }),
      closeEvent({ accountId: 'svc_gaps', n: 1 }),
    ]);
    expect(response).toEqual({ batchItemFailures: [] });
    expect(deadLetters).toEqual([expect.stringContaining('x'.repeat(3_000))]);
    expect(counted).toEqual({ UntrackedRequests: 7, RecordedEvents: 1, FailedEvents: 1 });
    expect(logs).toHaveLength(2);
    expect(logs[0]).toContain('"errorName":"ForeignAccountError"');
  });

  it('returns no failures for an empty batch', async () => {
    expect(await consume([])).toEqual({ batchItemFailures: [] });
  });
});
