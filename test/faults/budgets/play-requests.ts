import assert from 'node:assert/strict';
import {
  type FinishedReservation,
  finishedReservations,
  finishReservations,
  openReservations,
  reservationDeltas,
} from '../../../lambda/data/ledger/reservations.ts';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import type { ReservedBudget } from '../../../lambda/domain/limits/block.ts';
import { periodId, RESERVATION_MINUTES, type Reservation } from '../../../lambda/domain/limits/reservation.ts';
import { openReserve, type ReservableRequest } from '../../../lambda/gateway/relay/reserve.ts';
import { type Random, randomFrom } from '../random.ts';
import { expressionTable } from './expressions.ts';

export const START = Date.parse('2026-11-20T12:00:00.000Z');
export const ACCOUNT = 'account-1';
export const BUDGET = 'budget-1';
const BODY_BYTES = 100;
const INPUT_NANO_USD = BODY_BYTES * 2_500;
const OUTPUT_NANO_USD = 10_000;

/** What all simulated requests have in common. */
export const SIMULATED = {
  provider: 'openai',
  dialect: 'openai-chat',
  models: ['gpt-4o'],
  serviceTier: null,
  prompt: { messages: 1, calls: 0, textBytes: 5, toolBytes: 0, schemaBytes: 0, images: [], uncounted: [] },
  billableItems: {},
} as const satisfies Partial<ReservableRequest>;

/** The body of a request, the most that it may cost, and what it costs. */
export const simulatedRequest = (random: Random) => {
  const maxOutputTokens = 1 + random.below(2_000);
  return {
    body: Buffer.from(JSON.stringify({ max_tokens: maxOutputTokens }).padEnd(BODY_BYTES, ' ')),
    worstNanoUsd: INPUT_NANO_USD + maxOutputTokens * OUTPUT_NANO_USD,
    costNanoUsd: INPUT_NANO_USD / 4 + random.below(maxOutputTokens + 1) * OUTPUT_NANO_USD,
  };
};

/** Of most requests some seconds, of a late one more than a reservation lives. */
export const lastingMs = (random: Random, isLate: boolean): number =>
  isLate ? 16 * MINUTE_MS + random.below(4 * MINUTE_MS) : random.below(20_000);

export const addTo = (sums: Map<string, number>, name: string, nanoUsd: number): void => {
  sums.set(name, (sums.get(name) ?? 0) + nanoUsd);
};

interface Running {
  readonly reservation: Reservation;
  readonly endsAtMs: number;
  readonly costNanoUsd: number;
  /** Of its close event; 0 where its process died. */
  readonly copies: number;
  /** It ends without a cost, and its result is fetched so much later. */
  readonly resultAfterMs?: number | undefined;
  readonly wasPending?: boolean | undefined;
}

/**
 * Simulated requests of one hourly budget against the code of gateway and ledger, over a table in memory. The ledger is a sum by period.
 * Requests end after up to 20 minutes, die with their process, arrive late, twice or not at all; some are not reserved; the amount is
 * edited; periods end; reads of the ledger are late.
 *
 * @throws AssertionError where a request is refused that fits, a reservation stays, or sums differ
 */
export const playRequests = async (seed: number, requests: number): Promise<string> => {
  const random = randomFrom(seed);
  const memory = expressionTable();
  let nowMs = START;
  const reserve = openReserve(memory.call, 'table', 1_000, () => nowMs);
  const reservations = openReservations(memory.table, () => nowMs);
  let limitNanoUsd = 90e9;
  const budget = (): ReservedBudget => ({
    id: BUDGET,
    name: 'Simulated',
    scope: {},
    period: 'hourly',
    amountNanoUsd: limitNanoUsd,
    limitNanoUsd,
    unknownCost: 'pass',
    onUnavailable: 'pass',
  });

  /** What the ledger shows by period; what of it had no reservation, or none any more; and the highest limit that held. */
  const used = new Map<string, number>();
  const unreserved = new Map<string, number>();
  const highestLimit = new Map<string, number>();
  const current = () => periodId(periodAt('hourly', new Date(nowMs)));
  const counts = { refused: 0, died: 0, late: 0, twice: 0, bypassed: 0, pending: 0, edits: 0, periods: 0 };

  let running: Running[] = [];
  const isHeld = ({ reservation, wasPending }: Running): boolean =>
    wasPending === true || reservation.minute > Math.floor(lastFreedMs / MINUTE_MS) - RESERVATION_MINUTES;
  let lastFreedMs = START - MINUTE_MS;

  /** As the ledger does: the cost and the freed reservation together, once for each request. */
  const finish = async ({ resultAfterMs, ...request }: Running): Promise<void> => {
    const isPending = resultAfterMs !== undefined;
    const [finished] = finishedReservations([request.reservation], ACCOUNT, isPending ? null : request.costNanoUsd, {
      isPending,
      wasPending: request.wasPending,
    }) as [FinishedReservation];
    const { Update } = finishReservations(reservationDeltas([finished])[0] as never);
    const isWritten = memory.update(Update as never);
    if (!isWritten) assert.deepEqual(await reservations.held([finished]), []);
    if (isPending) {
      counts.pending += 1;
      running.push({ ...request, endsAtMs: nowMs + resultAfterMs, wasPending: isWritten });
      return;
    }
    if (!isWritten) addTo(unreserved, finished.periodId, finished.costNanoUsd);
    addTo(used, finished.periodId, finished.costNanoUsd);
  };

  const compare = async (period: string): Promise<void> => {
    const apply = await reservations.compare(ACCOUNT, [{ budgetId: BUDGET, periodId: period }]);
    const read = used.get(period) ?? 0;
    // Some are recorded between the read of the ledger and that of the item.
    if (random.below(2) === 0) await endSome();
    await apply(new Map([[BUDGET, read]]));
    if (period === current()) lastFreedMs = nowMs;
  };

  const endSome = async (): Promise<void> => {
    const ended = running.filter(({ endsAtMs }) => endsAtMs <= nowMs);
    running = running.filter((each) => each.endsAtMs > nowMs && (each.copies > 0 || isHeld(each)));
    for (const request of ended) {
      await finish(request);
      // The record exists: a second event changes nothing, so the ledger makes no change of it.
      if (request.copies > 1) counts.twice += 1;
    }
  };

  const send = async (): Promise<void> => {
    const period = current();
    highestLimit.set(period, Math.max(highestLimit.get(period) ?? 0, limitNanoUsd));
    const { body, worstNanoUsd: worst, costNanoUsd: cost } = simulatedRequest(random);
    if (random.below(200) === 0) {
      // A WebSocket, or a table that did not respond.
      counts.bypassed += 1;
      addTo(used, period, cost);
      addTo(unreserved, period, cost);
      return;
    }
    const result = await reserve(ACCOUNT, [budget()], {
      ...SIMULATED,
      body,
      startedAt: new Date(nowMs).toISOString(),
    });
    if (result.kind === 'refused') {
      counts.refused += 1;
      const inFlight = running
        .filter((each) => each.reservation.periodId === period && isHeld(each))
        .reduce((sum, { reservation }) => sum + reservation.nanoUsd, 0);
      const free = limitNanoUsd - (used.get(period) ?? 0) - inFlight;
      assert.ok(worst > free, `refused ${worst} with ${free} free`);
      return;
    }
    assert.equal(result.kind, 'reserved');
    const [reservation] = result.kind === 'reserved' ? result.reservations : [];
    const roll = random.below(1_000);
    const copies = roll < 5 ? 0 : roll < 25 ? 2 : 1;
    if (copies === 0) counts.died += 1;
    const isLate = random.below(500) === 0;
    if (isLate) counts.late += 1;
    // What died with its process never ends.
    const lastsMs = copies === 0 ? Number.POSITIVE_INFINITY : lastingMs(random, isLate);
    const resultAfterMs = copies === 1 && random.below(50) === 0 ? random.below(9 * MINUTE_MS) : undefined;
    running.push({
      reservation: reservation as Reservation,
      endsAtMs: nowMs + lastsMs,
      costNanoUsd: cost,
      copies,
      resultAfterMs,
    });
  };

  let period = current();
  let comparedAt = nowMs;
  for (let n = 0; n < requests; n++) {
    await send();
    nowMs += random.below(400);
    if (n % 8 === 0) await endSome();
    if (random.below(2_000) === 0) {
      limitNanoUsd = 60e9 + random.below(120e9);
      counts.edits += 1;
    }
    if (nowMs - comparedAt >= 30_000) {
      comparedAt = nowMs;
      await compare(current());
    }
    if (current() !== period) {
      counts.periods += 1;
      period = current();
    }
  }
  // A late request ends after 20 minutes, and the result that it waits for comes 9 minutes after that is seen.
  for (const minutes of [15, 10, 10]) {
    nowMs += minutes * MINUTE_MS;
    await endSome();
  }
  let sum = 0;
  for (const each of used.keys()) {
    await compare(each);
    nowMs += 2_000;
    await compare(each);
    const item = await reservations.read(ACCOUNT, { budgetId: BUDGET, periodId: each });
    assert.ok(![...item.reserved.values()].some(Boolean), 'a reservation stays');
    assert.equal(item.finishedNanoUsd + item.unreservedNanoUsd, used.get(each), 'sums differ from the ledger');
    const committed = [...memory.items].find(([name]) => name.endsWith(each))?.[1]['committed'];
    assert.equal(committed, used.get(each), 'what is committed is not what is spent');
    // What had a reservation until its end never exceeds the limit.
    const reservedSpend = (used.get(each) ?? 0) - (unreserved.get(each) ?? 0);
    assert.ok(reservedSpend <= (highestLimit.get(each) ?? 0), 'reserved requests spent more than the limit');
    sum += used.get(each) ?? 0;
  }
  const seen = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return `${requests} requests, $${(sum / 1e9).toFixed(2)}: ${seen.join(', ')}; no affordable request refused, no reservation left, sums equal; seed ${seed}`;
};
