import { limitValueKey, reservedBudgetKey } from '../../data/table/keys.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { type Block, type BlockPolicy, type ReservedBudget, unavailablePolicy } from '../../domain/limits/block.ts';
import { limitPeriodAt } from '../../domain/limits/each.ts';
import { isOldReservation, periodId, type Reservation } from '../../domain/limits/reservation.ts';
import { type RequestSize, worstCasesNanoUsd } from '../../domain/limits/worst-case.ts';
import type { AwsCall } from '../aws/aws-json.ts';
import { bodySize } from './request-size.ts';

/*
 * Reserves the most that a request may cost from the budgets that it is in. Loaded for accounts with such budgets only: it has a table of
 * the rates of all models.
 */

/** A request that does not fit a budget any more. */
export interface NotEnough extends Block {
  /** The most that the request may cost; null where its price is not known. */
  readonly neededNanoUsd: number | null;
  /** The most that running requests may cost; null where the budget was not read, since it is smaller than what is needed. */
  readonly reservedNanoUsd: number | null;
}

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly reservations: readonly Reservation[] }
  | { readonly kind: 'refused'; readonly refusal: NotEnough }
  /** The table did not do it in time, and the budget wants requests to pass, or to stop. */
  | { readonly kind: 'unavailable'; readonly policy: BlockPolicy };

export interface Reserve {
  /** The most that a request may cost, by the dearest model that may serve it; null where that is not known. */
  mostNanoUsd(size: ReservableRequest): Promise<number | null>;
  (accountId: string, budgets: readonly ReservedBudget[], size: ReservableRequest): Promise<ReserveResult>;
  /** Frees what was reserved for a request that was not forwarded. Never rejects. */
  release(accountId: string, reservations: readonly Reservation[]): Promise<void>;
}

export type ReservableRequest = Omit<RequestSize, keyof Awaited<ReturnType<typeof bodySize>>> & {
  readonly startedAt: string;
};

const worstCasesOf = async (request: Omit<ReservableRequest, 'startedAt'>) =>
  worstCasesNanoUsd({ ...request, ...(await bodySize(request.body)) });
const dearestOf = (worstCases: readonly (number | null)[]): number | null =>
  worstCases.includes(null) ? null : Math.max(...(worstCases as number[]));

/** A transaction has an item for some 5 to 10 ms. */
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 50;
/** For this long late events and corrected prices still change items of past periods, as in lambda/domain/limits/value-counts.ts. */
const KEPT_MS = 40 * DAY_MS;

interface Part {
  readonly budget: ReservedBudget;
  readonly reservation: Reservation;
  readonly worstCase: number | null;
  readonly until: string;
}

type Attributes = Readonly<Record<string, { readonly N?: string }>>;

const refusalOf = ({ budget, worstCase, until }: Part, item?: Attributes): NotEnough => {
  const number = (name: string): number => Number(item?.[name]?.N ?? 0);
  const spentNanoUsd = number('finished') + number('unreserved');
  return {
    id: budget.id,
    kind: 'budget',
    name: budget.name,
    scope: budget.scope,
    of: budget.of,
    until,
    amountNanoUsd: budget.amountNanoUsd,
    spentNanoUsd: item ? spentNanoUsd : null,
    neededNanoUsd: worstCase,
    reservedNanoUsd: item ? number('committed') - spentNanoUsd : null,
  };
};

/** Codes of refusals by a table that is throttled, or where a transaction has the item. */
const BUSY: ReadonlySet<string | undefined> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionConflictException',
]);

/** Text of an error of DynamoDB, as aws-json.ts passes it on. */
interface TableError {
  readonly code?: string;
  /** Has the item if its condition failed. */
  readonly output?: { readonly Item?: Attributes };
}

/**
 * One conditional write for each budget, in the order of their ids: of requests that need the last of the same budgets one gets it. Where
 * one has no room, what the others gave is freed. Never a transaction: of those that meet at one item DynamoDB cancels all but one.
 * A write that is sent twice, since its connection broke, reserves twice: the second half is freed with its minute.
 */
export const openReserve = (
  dynamodb: AwsCall,
  tableName: string,
  timeoutMs: number,
  now: () => number = Date.now,
): Reserve => {
  const itemOf = (accountId: string, { budgetId, periodId: period, value }: Reservation) => {
    const { pk, sk } =
      value === undefined
        ? reservedBudgetKey(accountId, budgetId, period)
        : limitValueKey(accountId, budgetId, period, value);
    return { TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } };
  };

  const change = (accountId: string, reservation: Reservation) => {
    const { minute } = reservation;
    return {
      ...itemOf(accountId, reservation),
      ExpressionAttributeNames: { '#minute': `m${minute}` },
    };
  };

  const addition = (accountId: string, { budget, reservation, until }: Part) => ({
    ...change(accountId, reservation),
    UpdateExpression: 'SET expiresAt = :expiresAt ADD committed :most, #minute :most',
    ConditionExpression: 'attribute_not_exists(committed) OR committed <= :room',
    ExpressionAttributeValues: {
      ':most': { N: String(reservation.nanoUsd) },
      ':room': { N: String(budget.limitNanoUsd - reservation.nanoUsd) },
      ':expiresAt': { N: String(Math.floor((Date.parse(until) + KEPT_MS) / 1_000)) },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });

  /** Tries again while a transaction of the recorder has the item, or the table is throttled: then nothing was written. */
  const write = async (input: object, endsAt = performance.now() + timeoutMs, sends?: 'once'): Promise<void> => {
    for (let mostMs = FIRST_WAIT_MS; ; mostMs = Math.min(2 * mostMs, LONGEST_WAIT_MS)) {
      try {
        await dynamodb('UpdateItem', input, Math.max(1, endsAt - performance.now()), sends);
        return;
      } catch (error) {
        const waitMs = Math.random() * mostMs;
        if (!BUSY.has((error as TableError).code) || performance.now() + waitMs >= endsAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  };

  /**
   * Frees what requests reserved from a value long ago, where it is in the way: values are too many to look at each of them all the time.
   *
   * @returns true where something was freed
   */
  const freeOld = async (accountId: string, reservation: Reservation, item: Attributes, endsAt: number) => {
    const old = Object.entries(item).filter(
      ([member, { N }]) => /^[mp]\d+$/.test(member) && isOldReservation(member, now()) && Number(N) !== 0,
    );
    for (const [member, { N = '0' }] of old)
      await write(
        {
          ...itemOf(accountId, reservation),
          UpdateExpression: 'ADD committed :less, uncertain :most REMOVE #member',
          ConditionExpression: '#member = :most',
          ExpressionAttributeNames: { '#member': member },
          ExpressionAttributeValues: { ':less': { N: String(-Number(N)) }, ':most': { N } },
        },
        endsAt,
      ).catch((error: unknown) => {
        // Another process was faster.
        if ((error as TableError).code !== 'ConditionalCheckFailedException') throw error;
      });
    return old.length > 0;
  };

  /** @returns the item that has no room */
  const reserveOne = async (accountId: string, part: Part, endsAt: number): Promise<Attributes | null> => {
    for (let attempt = 0; ; attempt++) {
      try {
        await write(addition(accountId, part), endsAt);
        return null;
      } catch (error) {
        const { code, output } = error as TableError;
        if (code !== 'ConditionalCheckFailedException') throw error;
        const { Item = {} } = output ?? {};
        const mayFree = part.budget.of !== undefined && attempt === 0;
        if (!mayFree || !(await freeOld(accountId, part.reservation, Item, endsAt))) return Item;
      }
    }
  };

  const release = async (accountId: string, reservations: readonly Reservation[]): Promise<void> => {
    for (const reservation of reservations) {
      const free = {
        ...change(accountId, reservation),
        UpdateExpression: 'ADD committed :less, #minute :less',
        ConditionExpression: 'attribute_exists(#minute)',
        ExpressionAttributeValues: { ':less': { N: String(-reservation.nanoUsd) } },
      };
      // If this fails, it is freed with its minute. Sent twice, it would free what other requests of that minute reserved.
      await write(free, undefined, 'once').catch(() => {});
    }
  };

  const reserve = async (
    accountId: string,
    budgets: readonly ReservedBudget[],
    { startedAt, ...request }: ReservableRequest,
  ): Promise<ReserveResult> => {
    const worstCases = await worstCasesOf(request);
    const worstCase = dearestOf(worstCases);
    const minute = Math.floor(now() / MINUTE_MS);
    const inOrder = budgets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const parts = inOrder.flatMap((budget): Part[] => {
      const { unknownCost } = budget;
      const period = limitPeriodAt(budget.period, new Date(startedAt));
      // The cost is not known: it counts as nothing, or the budget says what.
      const unknownNanoUsd = typeof unknownCost === 'number' ? unknownCost : 0;
      const ofUnknown = unknownCost === 'stop' ? budget.limitNanoUsd + 1 : unknownNanoUsd;
      const nanoUsd = Math.max(...worstCases.map((each) => each ?? ofUnknown));
      if (period === null || nanoUsd === 0) return [];
      const { of } = budget;
      const reservation = {
        ...{ budgetId: budget.id, periodId: periodId(period), minute, nanoUsd, unknownNanoUsd },
        ...(of && { value: of.value }),
      };
      return [{ budget, reservation, worstCase, until: period.end }];
    });
    const hopeless = parts.find(({ budget, reservation }) => reservation.nanoUsd > budget.limitNanoUsd);
    if (hopeless) return { kind: 'refused', refusal: refusalOf(hopeless) };
    const endsAt = performance.now() + timeoutMs;
    const reservations: Reservation[] = [];
    for (const part of parts) {
      try {
        const full = await reserveOne(accountId, part, endsAt);
        if (full) {
          await release(accountId, reservations);
          return { kind: 'refused', refusal: refusalOf(part, full) };
        }
        reservations.push(part.reservation);
      } catch {
        void release(accountId, reservations);
        return { kind: 'unavailable', policy: unavailablePolicy(parts.map(({ budget }) => budget)) };
      }
    }
    return { kind: 'reserved', reservations };
  };

  const mostNanoUsd: Reserve['mostNanoUsd'] = async (size) => dearestOf(await worstCasesOf(size));
  return Object.assign(reserve, { release, mostNanoUsd });
};
