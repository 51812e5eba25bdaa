import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import {
  type FinishedReservation,
  finishedReservations,
  finishReservations,
  openReservations,
  reservationDeltas,
} from '../../../lambda/data/ledger/reservations.ts';
import { limitValueKey, overrideKey } from '../../../lambda/data/table/keys.ts';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { type EachLimit, NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import { amountFor, type GroupAmount, type KeyPlaces, type Override } from '../../../lambda/domain/limits/each.ts';
import { isOldReservation, periodId, type Reservation } from '../../../lambda/domain/limits/reservation.ts';
import { useBy, valueCountsOf } from '../../../lambda/domain/limits/value-counts.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';
import { cachedValueLookup, valueReader } from '../../../lambda/gateway/admission/value-lookup.ts';
import { type AwsCall, AwsCallError } from '../../../lambda/gateway/aws/aws-json.ts';
import { checkValues } from '../../../lambda/gateway/relay/check-values.ts';
import { openReserve } from '../../../lambda/gateway/relay/reserve.ts';
import { type Random, randomFrom } from '../random.ts';
import { expressionTable } from './expressions.ts';
import { ACCOUNT, addTo, BUDGET, lastingMs, SIMULATED, START, simulatedRequest } from './play-requests.ts';

/** A gateway knows a value, or an override, after this time. */
const KNOWN_MS = 5_000;
/** What a request has for its reservation: two seconds at a gateway, less here, so that some do not get it. */
const RESERVING_MS = 40;

/** A request that runs, or whose record is late. */
interface Running {
  readonly keyId: string;
  readonly startedAt: string;
  readonly costNanoUsd: number;
  readonly reservation: Reservation | undefined;
  readonly endsAtMs: number;
  /** Its process died: no event arrives. */
  readonly isLost: boolean;
}

type StoredKey = Readonly<Record<'pk' | 'sk', { readonly S: string }>>;

/**
 * The table of the gateway and the ledger where writes conflict and the table is throttled, as DynamoDB refuses them: some transactions
 * still have their item when the next writes of it arrive, others are cancelled by a write, and in bursts every call is refused.
 */
const busyTable = (memory: ReturnType<typeof expressionTable>, random: Random, now: () => number) => {
  /** How many writes of an item the transaction that has it still refuses. */
  const inTransaction = new Map<string, number>();
  /** When values were read again whose last read failed: until then what was read before stays in force, however old. */
  const readAgainAt = new Map<string, number>();
  let throttled = 0;
  const counts = { writesInConflict: 0, transactionsInConflict: 0, throttled: 0 };
  const refuse = (type: string) => new AwsCallError({ __type: type }, 400);
  const isThrottled = (): boolean => {
    if (throttled === 0 && random.below(20_000) === 0) throttled = 1 + random.below(20);
    if (throttled === 0) return false;
    throttled -= 1;
    counts.throttled += 1;
    return true;
  };
  const call: AwsCall = async (operation, input, timeoutMs) => {
    const { Key, RequestItems } = input as {
      readonly Key?: StoredKey;
      readonly RequestItems?: { table: { Keys: StoredKey[] } };
    };
    const [{ pk, sk }] = (RequestItems?.table.Keys ?? [Key]) as [StoredKey];
    const item = memory.nameOf({ pk: pk.S, sk: sk.S });
    const isRefused = isThrottled();
    if (RequestItems && (isRefused || readAgainAt.has(item)))
      readAgainAt.set(item, isRefused ? Number.POSITIVE_INFINITY : now());
    if (isRefused) throw refuse('ProvisionedThroughputExceededException');
    // Reads never conflict.
    const left = RequestItems ? 0 : (inTransaction.get(item) ?? 0);
    if (left === 0) return memory.call(operation, input, timeoutMs);
    inTransaction.set(item, left - 1);
    counts.writesInConflict += 1;
    throw refuse('TransactionConflictException');
  };
  /** True where the recorder's transaction is cancelled: its event is delivered again. */
  const isCancelled = (): boolean => {
    const isRefused = isThrottled() || random.below(50) === 0;
    if (isRefused) counts.transactionsInConflict += 1;
    return isRefused;
  };
  const hold = (item: string): void => {
    if (random.below(40) === 0) inTransaction.set(item, 1 + random.below(3));
  };
  const isOld = (item: string): boolean => (readAgainAt.get(item) ?? 0) >= now();
  return { call, isCancelled, hold, isOld, counts };
};

/** Half of all requests are of every hundredth key. */
const pickKey = (random: Random, keys: number): number =>
  random.below(2) === 0 ? 100 * random.below(keys / 100) : random.below(keys);

/**
 * Simulated requests of one hourly limit of each member against the code of gateway and ledger, over a table in memory whose writes
 * conflict, and which is throttled. Processes die, events arrive late and twice, prices change afterwards; keys are handed over while their
 * requests run; members move into a project with another amount and out of it; amounts and overrides are edited; periods end.
 *
 * @throws AssertionError where a request is refused that fits, a value passes its bound, or sums differ from the records
 */
export const playValues = async (
  seed: number,
  enforcement: 'lagging' | 'reserved',
  members: number,
  requests: number,
): Promise<string> => {
  const random = randomFrom(seed);
  const memory = expressionTable();
  let nowMs = START;
  const now = () => new Date(nowMs);
  const busy = busyTable(memory, random, () => nowMs);
  const reserve = openReserve(busy.call, 'table', RESERVING_MS, () => nowMs);
  const reservations = openReservations(memory.table, () => nowMs);
  const lookUp = cachedValueLookup(valueReader(busy.call, 'table', RESERVING_MS), () => nowMs);
  const keys: Record<string, { project: string; member: string }> = {};
  for (let n = 0; n < members; n++) keys[`key-${n}`] = { project: 'default', member: `member-${n}` };
  let limit: EachLimit = {
    id: BUDGET,
    name: 'Simulated',
    each: 'member',
    scope: {},
    period: 'hourly',
    amountNanoUsd: 0.3e9,
    groups: [{ source: 'project', name: 'search', amountNanoUsd: 0.5e9, values: ['member-0', 'member-100'] }],
    percent: 100,
    enforcement,
    unknownCost: 'pass',
    onUnavailable: 'pass',
    showsRemaining: false,
    notifyAt: [],
    askUrl: '',
  };
  const counted = {
    limits: [{ budgetId: BUDGET, each: 'member', filter: undefined, period: 'hourly', unknownNanoUsd: 0 }],
  } as const;
  const overrides = new Map<string, Override>();

  /** By period and member: what records say, what of it had no reservation, the highest amount, and when it was last below its amount. */
  const used = new Map<string, number>();
  const unreserved = new Map<string, number>();
  const highest = new Map<string, number>();
  const changedAtMs = new Map<string, number>();
  let editedAtMs = 0;
  const current = () => periodId(periodAt('hourly', now()));
  const counts = {
    refused: 0,
    died: 0,
    late: 0,
    twice: 0,
    repriced: 0,
    handedOver: 0,
    moved: 0,
    overrides: 0,
    edits: 0,
    periods: 0,
    unchecked: 0,
    byOldReads: 0,
    unreserved: 0,
  };

  let running: Running[] = [];
  const done: RequestRecord[] = [];

  const amountOf = (member: string): number =>
    amountFor(limit, member, overrides.get(member) ?? null, now()).nanoUsd ?? Number.POSITIVE_INFINITY;

  /** As the ledger's transaction does. @returns false where a reservation was freed before */
  const commit = (
    record: RequestRecord,
    before: RequestRecord | null,
    finished: readonly FinishedReservation[],
  ): boolean => {
    const valuesOf = (of: RequestRecord, sign: 1 | -1) =>
      of.countedFor.map((count) => {
        const { usedNanoUsd, unpricedRequests } = useBy(of, count);
        return {
          ...count,
          accountId: ACCOUNT,
          usedNanoUsd: sign * usedNanoUsd,
          unpricedRequests: sign * unpricedRequests,
        };
      });
    const values = [...(before ? valuesOf(before, -1) : []), ...valuesOf(record, 1)];
    const deltas = reservationDeltas(finished, values);
    for (const delta of deltas) {
      // Reservation and value are one item: a transaction would write it whole or not at all.
      assert.ok(deltas.length === 1 || finished.length === 0, 'a reservation is not in the item of its value');
      const { Update } = finishReservations(delta);
      if (!memory.update(Update as never)) return false;
      busy.hold(memory.nameOf(Update.Key));
    }
    for (const { value, periodId: id, usedNanoUsd } of values) {
      const name = `${id} ${value}`;
      addTo(used, name, usedNanoUsd);
      changedAtMs.set(name, nowMs);
      if (value !== null && !highest.has(name)) highest.set(name, amountOf(value));
    }
    return true;
  };

  const finish = async ({ keyId, startedAt, costNanoUsd, reservation }: Running): Promise<void> => {
    const facts = {
      ...{ keyId, startedAt, costNanoUsd, metadata: {}, provider: 'openai', provenance: 'computed', reading: null },
      ...{ tag: null, providerKey: null, client: null, session: null, countedFor: [] },
    } as unknown as RequestRecord;
    const own = reservation ? [reservation] : [];
    const countedFor = valueCountsOf(facts, { ...counted, keys }, own);
    const record = { ...facts, countedFor } as RequestRecord;
    const finished = finishedReservations(own, ACCOUNT, costNanoUsd);
    const isWritten = commit(record, null, finished);
    if (!isWritten) {
      assert.deepEqual(await reservations.held(finished), []);
      commit(record, null, []);
    }
    // Its value had no limit when it began, or what it had reserved was freed before it ended.
    if (!isWritten || own.length === 0)
      for (const { periodId: id, value } of countedFor) addTo(unreserved, `${id} ${value}`, costNanoUsd);
    done[random.below(1_000)] = record;
  };

  const endSome = async (): Promise<void> => {
    const ended = running.filter(({ endsAtMs, isLost }) => !isLost && endsAtMs <= nowMs);
    running = running.filter(({ endsAtMs, isLost }) => (isLost ? nowMs - endsAtMs < 20 * MINUTE_MS : endsAtMs > nowMs));
    for (const request of ended) {
      if (busy.isCancelled()) {
        running.push(request);
        continue;
      }
      await finish(request);
      // The record exists: a second event changes nothing, so the ledger makes no change of it.
      if (random.below(50) === 0) counts.twice += 1;
    }
    const record = random.below(20) === 0 ? random.pick(done) : undefined;
    if (!record) return;
    counts.repriced += 1;
    const after = { ...record, costNanoUsd: Math.round((record.costNanoUsd ?? 0) * (0.8 + random.below(40) / 100)) };
    const more = (after.costNanoUsd ?? 0) - (record.costNanoUsd ?? 0);
    commit(after, record, []);
    for (const { periodId: id, value } of record.countedFor) addTo(unreserved, `${id} ${value}`, Math.max(0, more));
    done[done.indexOf(record)] = after;
  };

  const edit = (): void => {
    const member = `member-${pickKey(random, members)}`;
    if (random.below(100) === 0) {
      limit = { ...limit, amountNanoUsd: 0.2e9 + random.below(0.2e9) };
      editedAtMs = nowMs;
      counts.edits += 1;
    }
    if (random.below(20) === 0) {
      const amountNanoUsd = random.pick([null, 0, random.below(1e9)]);
      // A gateway may go by the amount of before for some seconds.
      const name = `${current()} ${member}`;
      highest.set(name, Math.max(highest.get(name) ?? 0, amountOf(member)));
      const override = { amountNanoUsd, until: random.below(2) === 0 ? null : periodAt('hourly', now()).end };
      overrides.set(member, override);
      const { pk, sk } = overrideKey(ACCOUNT, BUDGET, member);
      memory.items.set(`${pk} ${sk}`, {
        ...(amountNanoUsd !== null && { amountNanoUsd }),
        ...(override.until !== null && { until: override.until }),
      });
      changedAtMs.set(name, nowMs);
      counts.overrides += 1;
    }
    if (random.below(20) === 0) {
      const [group] = limit.groups as [GroupAmount];
      const [left, ...stay] = group.values as [string, ...string[]];
      for (const each of [left, member]) {
        const name = `${current()} ${each}`;
        highest.set(name, Math.max(highest.get(name) ?? 0, amountOf(each)));
        changedAtMs.set(name, nowMs);
      }
      limit = { ...limit, groups: [{ ...group, values: [...stay, member] }] };
      counts.moved += 1;
    }
    if (random.below(20) === 0) {
      keys[`key-${pickKey(random, members)}`] = { project: 'default', member };
      counts.handedOver += 1;
    }
  };

  const send = async (): Promise<void> => {
    const keyId = `key-${pickKey(random, members)}`;
    const { member } = keys[keyId] as { member: string };
    const startedAt = now().toISOString();
    const name = `${current()} ${member}`;
    const amount = amountOf(member);
    highest.set(name, Math.max(highest.get(name) ?? 0, amount));
    const { body, worstNanoUsd: worst, costNanoUsd } = simulatedRequest(random);
    const admitted = {
      owner: { accountId: ACCOUNT, keyId },
      blocks: { ...NO_BLOCKS, each: [limit], keys: keys as KeyPlaces },
    };
    const check = await checkValues(admitted as never, { keyId, startedAt } as never, now(), lookUp);
    const isAbove = (used.get(name) ?? 0) >= amount;
    const isOld = busy.isOld(memory.nameOf({ ...limitValueKey(ACCOUNT, BUDGET, current(), member) }));
    // What was true in the last five seconds, or before reads failed, a gateway may still believe.
    if (isOld) counts.byOldReads += 1;
    const isKnown = !isOld && nowMs - Math.max(changedAtMs.get(name) ?? 0, editedAtMs) > KNOWN_MS;
    if (check.blocks.length > 0) {
      counts.refused += 1;
      assert.ok(isAbove || !isKnown, `refused at ${used.get(name)} of ${amount}`);
      return;
    }
    let reservation: Reservation | undefined;
    if (check.reserved.length > 0) {
      const result = await reserve(ACCOUNT, check.reserved, { ...SIMULATED, body, startedAt });
      if (result.kind === 'refused') {
        counts.refused += 1;
        const inFlight = running
          .filter(({ reservation: one }) => one?.value === member && one.periodId === current())
          .filter(({ reservation: one }) => !isOldReservation(`m${one?.minute}`, nowMs))
          .reduce((sum, each) => sum + (each.reservation?.nanoUsd ?? 0), 0);
        const free = amount - (used.get(name) ?? 0) - inFlight;
        assert.ok(worst > free || !isKnown, `refused ${worst} with ${free} free`);
        return;
      }
      if (result.kind === 'unavailable') counts.unreserved += 1;
      [reservation] = result.kind === 'reserved' ? result.reservations : [];
    } else if (check.unread !== null) counts.unchecked += 1;
    else if (enforcement === 'lagging') assert.ok(!isAbove || !isKnown, `passed at ${used.get(name)} of ${amount}`);
    const isLost = random.below(200) === 0;
    const isLate = random.below(500) === 0;
    if (isLost) counts.died += 1;
    if (isLate) counts.late += 1;
    const endsAtMs = nowMs + lastingMs(random, isLate);
    running.push({ keyId, startedAt, costNanoUsd, reservation, endsAtMs, isLost });
  };

  let period = current();
  for (let n = 0; n < requests; n++) {
    await send();
    // Reads in the background end at the time at which they began.
    await setImmediate();
    nowMs += random.below(400);
    if (n % 8 === 0) await endSome();
    edit();
    if (current() !== period) {
      counts.periods += 1;
      period = current();
    }
  }
  nowMs += 30 * MINUTE_MS;
  await endSome();
  let [sum, values, pastNanoUsd, mostPastNanoUsd] = [0, 0, 0, 0];
  for (const [name, nanoUsd] of used) {
    const [, start = '', member = ''] = /^(\S+) (.*)$/.exec(name) ?? [];
    const { pk, sk } = limitValueKey(ACCOUNT, BUDGET, start, member);
    const item = memory.items.get(`${pk} ${sk}`) ?? {};
    assert.equal(item['finished'], nanoUsd, 'a value differs from its records');
    const left = Object.entries(item).reduce(
      (all, [each, amount]) => all + (/^m\d/.test(each) ? Number(amount) : 0),
      0,
    );
    assert.equal(Number(item['committed']) - left, nanoUsd, 'what is committed is not what is spent and reserved');
    const ofReserved = nanoUsd - (unreserved.get(name) ?? 0);
    if (enforcement === 'reserved')
      assert.ok(ofReserved <= (highest.get(name) ?? 0), `${name} spent ${ofReserved} of ${highest.get(name)}`);
    const past = Math.max(0, nanoUsd - (highest.get(name) ?? 0));
    pastNanoUsd += past;
    mostPastNanoUsd = Math.max(mostPastNanoUsd, past);
    sum += nanoUsd;
    values += 1;
  }
  const seen = Object.entries({ ...counts, ...busy.counts }).map(([name, count]) => `${count} ${name}`);
  const usd = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(2)}`;
  const bound = `past the amounts ${usd(pastNanoUsd)} in all and ${usd(mostPastNanoUsd)} of one value, ${enforcement === 'reserved' ? 'by requests without a reservation and new prices alone' : 'by what began until 5 s after the record'}`;
  return `${requests} requests of ${members} members, ${values} values, $${(sum / 1e9).toFixed(2)}: ${seen.join(', ')}; ${bound}, no affordable request refused, sums equal; seed ${seed}`;
};
