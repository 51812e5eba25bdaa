/**
 * Which partition of the table saturates first, for one account and for a thousand, by requests a second; with months as they begin, and
 * sharded as they are once an account's transactions conflict. The recorder is the real one: its keys, transactions and batches. The table
 * is a model of what DynamoDB limits:
 *
 * - A partition takes 1,000 write units and 3,000 read units a second. A transaction's writes count twice.
 * - Request records and outbox entries have rising keys, so that a partition key of theirs is one partition, however busy.
 * - Everything else is split for heat, in the end to single items.
 * - An item takes one transaction at a time. For how long is an assumption: --hold-ms.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */

import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { cancelled } from '../fixtures/intercept-table.ts';
import {
  accountKey,
  counterSlotsKey,
  type Key,
  monthKey,
  OUTBOX_SHARDS,
  outboxKey,
  outboxPartition,
  requestPartition,
  spendPartition,
  withoutShard,
} from '../lambda/data/table/keys.ts';
import type { Table, TableCall, TableCommand } from '../lambda/data/table/table.ts';
import type { CloseEvent, UsageEvent } from '../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../lambda/usage-recorder/recorder.ts';
import { usageCapacity } from '../lib/usage-capacity.ts';
import { chatCompletion } from './events/chat-completion.ts';
import { report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const {
  rates,
  accounts: accountCounts,
  /** A transaction of a hundred items takes DynamoDB some 50 ms, of which it keeps others from its items for a part. Not measured in an account. */
  'hold-ms': holdMs,
} = benchOptions('partitions', { rates: [100, 1_000, 10_000], accounts: [1, 1_000], 'hold-ms': 20 });

const WRITE_UNITS = 1_000;
const READ_UNITS = 3_000;
/** What a recorder works off in a second: so many are at work at the same time. */
const EVENTS_A_RECORDER = 600;
/** As many as the queue makes. */
const MAX_DELIVERIES = 5;
/** Nine combinations, such as a busy account has. */
const tags = ['checkout', 'search', null];

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.length;
  return 8;
};
const kilobytesOf = (item: object): number =>
  Math.ceil(Object.entries(item).reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0) / 1_024);

/** What one place takes in a second: a partition whose key is never split, or an item. */
interface Load {
  writeUnits: number;
  readUnits: number;
  transactions: number;
}

/** The share of a place's limit that is in use, 1 where it is full, and by what. */
const useOf = ({ writeUnits, readUnits, transactions }: Load, isItem: boolean) =>
  [
    { by: 'write units', use: writeUnits / WRITE_UNITS },
    { by: 'read units', use: readUnits / READ_UNITS },
    { by: 'transactions', use: isItem ? (transactions * holdMs) / 1_000 : 0 },
  ].reduce((a, b) => (a.use >= b.use ? a : b));

const outboxPrefix = outboxPartition(0).slice(0, -1);
const [, requestMark = ''] = requestPartition('\0', '').split('\0');
const [, spendMark = ''] = spendPartition('\0').split('\0');
const isRising = ({ pk }: Key): boolean => pk.includes(requestMark) || pk.startsWith(outboxPrefix);

const kindOf = ({ pk, sk }: Key): string => {
  if (pk.startsWith(outboxPrefix)) return 'outbox';
  if (isRising({ pk, sk })) return 'records of a day';
  if (sk.startsWith(monthKey('', '').sk)) return 'month counter';
  if (pk.endsWith(spendMark)) return sk.startsWith('DAY#') ? 'counter of a day' : 'counter of an hour';
  if (sk.startsWith(counterSlotsKey('', '').sk)) return 'counter slots';
  return sk === accountKey('').sk ? 'account' : 'other';
};

class Loads {
  readonly places = new Map<string, Load & { kind: string; isItem: boolean }>();

  of(key: Key): Load {
    const isItem = !isRising(key);
    const id = isItem ? `${key.pk} ${key.sk}` : key.pk;
    const place = this.places.get(id) ?? { kind: kindOf(key), isItem, writeUnits: 0, readUnits: 0, transactions: 0 };
    this.places.set(id, place);
    return place;
  }

  /** The fullest place of each kind, the fullest kind first. */
  fullest() {
    const found = new Map<string, ReturnType<typeof useOf> & { kind: string }>();
    for (const { kind, isItem, ...load } of this.places.values()) {
      const used = { kind, ...useOf(load, isItem) };
      if (used.use > (found.get(kind)?.use ?? 0)) found.set(kind, used);
    }
    return [...found.values()].sort((a, b) => b.use - a.use);
  }
}

/** Items that the model keeps, because the recorder reads them again. */
const newStore = () => ({
  records: new Map<string, object>(),
  slots: new Map<string, Set<string>>(),
  /** Which process writes to a counter, while processes find out who is where. */
  writers: new Map<string, object>(),
});
type Store = ReturnType<typeof newStore>;

const idOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Conflicts on one item after which a process shares it. */
const MAX_CONFLICTS = 3;

/**
 * A table for one recorder process.
 *
 * @param isSharded months are sharded: where two processes meet on a counter, the transaction of the second conflicts
 */
const modelTable = (loads: () => Loads, store: Store, isSharded: boolean): Table => {
  const conflicts = new Map<string, number>();
  const self = {};
  /** Another process writes to it, and this one has not given way often enough. */
  const isTaken = ({ Update }: Action): boolean => {
    if (!Update) return false;
    const key = Update.Key as Key;
    if ((store.writers.get(idOf(key)) ?? self) === self) {
      store.writers.set(idOf(key), self);
      return false;
    }
    const counter = `${key.pk} ${withoutShard(key.sk)}`;
    const met = (conflicts.get(counter) ?? 0) + 1;
    conflicts.set(counter, met);
    return met <= MAX_CONFLICTS;
  };
  const fail = (actions: readonly Action[], code: string, matches: (action: Action) => unknown) => {
    throw cancelled(actions.map((action) => (matches(action) ? code : 'None')));
  };
  const judge = (actions: readonly Action[]) => {
    if (!isSharded) return;
    const taken = new Set(actions.filter(isTaken));
    if (taken.size > 0) fail(actions, 'TransactionConflict', (action) => taken.has(action));
    // The condition of a month counter: a process that does not know of shards writes nothing.
    const isOutdated = ({ Update }: Action) =>
      Update?.ConditionExpression?.includes('attribute_not_exists(shardedAfter)') ?? false;
    if (actions.some(isOutdated)) fail(actions, 'ConditionalCheckFailed', isOutdated);
  };
  const respond = async (command: TableCommand): Promise<unknown> => {
    if (command.operation === 'TransactWriteItems') {
      const actions = command.input.TransactItems ?? [];
      judge(actions);
      for (const { Put, Update } of actions) {
        const key = (Put?.Item ?? Update?.Key) as Key;
        const load = loads().of(key);
        load.writeUnits += 2 * (Put?.Item ? kilobytesOf(Put.Item) : 1);
        load.transactions += 1;
        if (Put?.Item?.['details']) store.records.set(idOf(key), Put.Item);
      }
      return {};
    }
    if (command.operation === 'BatchGetItem') {
      const [[name, request] = ['', { Keys: [] }]] = Object.entries(command.input.RequestItems ?? {});
      const keys = (request.Keys ?? []) as Key[];
      for (const key of keys) loads().of(key).readUnits += request.ConsistentRead ? 1 : 0.5;
      return { Responses: { [name]: keys.flatMap((key) => store.records.get(idOf(key)) ?? []) } };
    }
    if (command.operation === 'GetItem') {
      const key = command.input.Key as Key;
      loads().of(key).readUnits += 1;
      const cells = store.slots.get(idOf(key));
      if (cells) return { Item: { cells } };
      return key.sk.startsWith(monthKey('', '').sk) && isSharded ? { Item: { shardedAfter: '0' } } : {};
    }
    if (command.operation === 'UpdateItem' || command.operation === 'PutItem') {
      const key = (command.operation === 'UpdateItem' ? command.input.Key : command.input.Item) as Key;
      loads().of(key).writeUnits += 1;
      const cells = command.input.ExpressionAttributeValues?.[':cells'] as Set<string> | undefined;
      if (cells) store.slots.set(idOf(key), new Set([...(store.slots.get(idOf(key)) ?? []), ...cells]));
      return {};
    }
    throw new Error(`The model has no ${command.operation}.`);
  };
  const call = (operation: string, input: object) => respond({ operation, input } as TableCommand);
  return { call: call as TableCall, name: 'model' };
};

const openEventOf = (event: CloseEvent): UsageEvent => {
  const { requestId, accountId, keyId, provider, providerKey, tag, tagTruncated, method, path, startedAt } = event;
  const facts = { requestId, accountId, keyId, provider, providerKey, tag, tagTruncated, method, path, startedAt };
  return { ...facts, version: 1, kind: 'open' };
};

/** The load of one second: close events of new requests, and the open events of earlier ones. */
const loadsOf = async (accounts: number, rate: number, isSharded: boolean): Promise<Loads> => {
  let loads = new Loads();
  const store = newStore();
  const { batchSize } = usageCapacity(rate);
  const processes = Array.from({ length: Math.ceil((2 * rate) / EVENTS_A_RECORDER) }, () =>
    openRecorder(
      modelTable(() => loads, store, isSharded),
      { logger: console },
    ),
  );
  let earlier: UsageEvent[] = [];
  // In the first second processes make counter slots and learn which months are sharded. It is not counted.
  for (const second of [0, 1]) {
    loads = new Loads();
    const closed = Array.from({ length: rate }, (_, n) =>
      chatCompletion(`svc_${n % accounts}`, tags, second * rate + n, Date.now()),
    );
    const events = closed.flatMap((event, n) => [event, ...earlier.slice(n, n + 1)]);
    earlier = closed.map(openEventOf);
    const queues = processes.map((): UsageEvent[][] => []);
    // In the first second every process gets something.
    const size = second === 0 ? Math.min(batchSize, Math.ceil(events.length / processes.length)) : batchSize;
    for (let at = 0; at < events.length; at += size)
      queues[(at / size) % processes.length]?.push(events.slice(at, at + size));
    await Promise.all(
      processes.map(async (record, index) => {
        for (let pending = queues[index] ?? [], rounds = 0; pending.length > 0; rounds++) {
          if (rounds === MAX_DELIVERIES) throw new Error('The model refused an event too often.');
          const again: UsageEvent[][] = [];
          for (const batch of pending) {
            const results = await record(batch);
            again.push(batch.filter((_, n) => results[n]?.kind === 'failed'));
          }
          pending = again.filter((batch) => batch.length > 0);
        }
      }),
    );
  }
  return loads;
};

/** While the queue refuses every event, the gateway writes them to the outbox. */
const outboxLoads = (rate: number): Loads => {
  const loads = new Loads();
  for (let n = 0; n < rate; n++) {
    const close = chatCompletion('svc_0', tags, n, Date.now());
    for (const event of [close, openEventOf(close)]) {
      const key = outboxKey(n % OUTBOX_SHARDS, event.requestId, event.kind);
      loads.of(key).writeUnits += kilobytesOf({ ...key, event: JSON.stringify(event), parkedAt: event.kind });
    }
  }
  return loads;
};

const percent = (use: number): string => `${rounded(100 * use, use < 0.1 ? 1 : 0)} %`;

const row = (accounts: number | string, rate: number, months: string, loads: Loads) => {
  const [first, second] = loads.fullest();
  return {
    accounts,
    requestsPerSecond: rate,
    months,
    fullest: first ? `${first.kind}, ${first.by}` : '',
    use: percent(first?.use ?? 0),
    next: second ? `${second.kind}, ${second.by}: ${percent(second.use)}` : '',
  };
};

const results = [];
for (const accounts of accountCounts)
  for (const months of ['not sharded', 'sharded'])
    for (const rate of rates)
      results.push(row(accounts, rate, months, await loadsOf(accounts, rate, months === 'sharded')));
for (const rate of rates) results.push(row('all, queue down', rate, '', outboxLoads(rate)));
report('partitions', { holdMs, eventsARecorder: EVENTS_A_RECORDER }, results);
