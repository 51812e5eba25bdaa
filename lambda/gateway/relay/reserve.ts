import type { AwsCall } from '../../aws/aws-json.ts';
import { reservedBudgetKey } from '../../data/table/keys.ts';
import type { Block, ReservedBudget } from '../../domain/budgets/block.ts';
import { periodId, type Reservation } from '../../domain/budgets/reservation.ts';
import { type RequestSize, worstCasesNanoUsd } from '../../domain/budgets/worst-case.ts';
import { periodAt } from '../../domain/calendar/periods.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { bodySize } from './request-size.ts';

/*
 * Reserves the most that a request may cost from the budgets that it is in. Loaded for accounts with such budgets only: it has a table of
 * the rates of all models.
 */

/** A request that does not fit a budget any more. */
export interface NotEnough extends Block {
  /** What the request may cost at most; null where its price is not known. */
  readonly neededNanoUsd: number | null;
  /** What running requests may cost at most; null where the budget was not read, since it is smaller than what is needed. */
  readonly reservedNanoUsd: number | null;
}

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly reservations: readonly Reservation[] }
  | { readonly kind: 'refused'; readonly refusal: NotEnough }
  /** The table did not do it in time, and the budget wants requests to pass, or to stop. */
  | { readonly kind: 'unavailable'; readonly policy: 'pass' | 'stop' };

export interface Reserve {
  (accountId: string, budgets: readonly ReservedBudget[], size: ReservableRequest): Promise<ReserveResult>;
  /** Frees what was reserved for a request that was not forwarded. Never rejects. */
  release(accountId: string, reservations: readonly Reservation[]): Promise<void>;
}

export type ReservableRequest = Omit<RequestSize, keyof ReturnType<typeof bodySize>> & { readonly startedAt: string };

/** Waits of about 10, 20, 40 … ms while a transaction of the recorder has the item. */
const MAX_ATTEMPTS = 6;
const FIRST_WAIT_MS = 10;
/** Items of past periods are of no use after this time. */
const KEPT_MS = 7 * DAY_MS;

interface Part {
  readonly budget: ReservedBudget;
  readonly reservation: Reservation;
  readonly worstCase: number | null;
  readonly until: string;
}

const periodOf = ({ period }: ReservedBudget, at: Date) => {
  if (typeof period === 'string') return periodAt(period, at);
  const start = `${period.from}T00:00:00.000Z`;
  const end = new Date(Date.parse(period.to) + DAY_MS).toISOString();
  return start <= at.toISOString() && at.toISOString() < end ? { name: 'fixed', start, end } : null;
};

type Attributes = Readonly<Record<string, { readonly N?: string }>>;

const refusalOf = ({ budget, worstCase, until }: Part, item?: Attributes): NotEnough => {
  const number = (name: string): number => Number(item?.[name]?.N ?? 0);
  const spentNanoUsd = number('finished') + number('unreserved');
  return {
    id: budget.id,
    kind: 'budget',
    name: budget.name,
    scope: budget.scope,
    until,
    amountNanoUsd: budget.amountNanoUsd,
    spentNanoUsd: item ? spentNanoUsd : null,
    neededNanoUsd: worstCase,
    reservedNanoUsd: item ? number('committed') - spentNanoUsd : null,
  };
};

/** What an error of DynamoDB says, as aws-json.ts passes it on. */
interface TableError {
  readonly code?: string;
  readonly output?: {
    readonly Item?: Attributes;
    readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: Attributes }[];
  };
}

const FAILED = 'ConditionalCheckFailed';

/** The part that did not fit, or null where the error is another. */
const refusedPart = (parts: readonly Part[], { code, output }: TableError): NotEnough | null => {
  if (code === 'ConditionalCheckFailedException') return refusalOf(parts[0] as Part, output?.Item);
  const reasons = output?.CancellationReasons ?? [];
  const index = reasons.findIndex(({ Code }) => Code === FAILED);
  return index < 0 ? null : refusalOf(parts[index] as Part, reasons[index]?.Item);
};

const isConflict = ({ code, output }: TableError): boolean =>
  code === 'TransactionConflictException' ||
  (output?.CancellationReasons ?? []).some(({ Code }) => Code === 'TransactionConflict');

/**
 * One conditional write, or one transaction where the request is in several budgets: all of them have room for it, or it reserves nothing.
 * A write that is sent twice, since its connection broke, reserves twice: the second half is freed with its minute.
 */
export const openReserve = (
  dynamodb: AwsCall,
  tableName: string,
  timeoutMs: number,
  now: () => number = Date.now,
): Reserve => {
  const change = (accountId: string, { budgetId, periodId: period, minute }: Reservation) => {
    const { pk, sk } = reservedBudgetKey(accountId, budgetId, period);
    return {
      TableName: tableName,
      Key: { pk: { S: pk }, sk: { S: sk } },
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

  const write = async (accountId: string, parts: readonly Part[]): Promise<NotEnough | null> => {
    const updates = parts.map((part) => addition(accountId, part));
    const [operation, input] =
      updates.length === 1
        ? (['UpdateItem', updates[0] as object] as const)
        : (['TransactWriteItems', { TransactItems: updates.map((Update) => ({ Update })) }] as const);
    for (let attempt = 1; ; attempt++) {
      try {
        await dynamodb(operation, input, timeoutMs);
        return null;
      } catch (error) {
        const refusal = refusedPart(parts, error as TableError);
        if (refusal) return refusal;
        if (!isConflict(error as TableError) || attempt === MAX_ATTEMPTS) throw error;
        const waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  };

  const reserve = async (
    accountId: string,
    budgets: readonly ReservedBudget[],
    { startedAt, ...request }: ReservableRequest,
  ): Promise<ReserveResult> => {
    const worstCases = worstCasesNanoUsd({ ...request, ...bodySize(request.body) });
    const worstCase = worstCases.includes(null) ? null : Math.max(...(worstCases as number[]));
    const minute = Math.floor(now() / MINUTE_MS);
    const parts = budgets.flatMap((budget): Part[] => {
      const { unknownCost } = budget;
      const period = periodOf(budget, new Date(startedAt));
      // The cost is not known: it counts as nothing, or the budget says what.
      const unknownNanoUsd = typeof unknownCost === 'number' ? unknownCost : 0;
      const ofUnknown = unknownCost === 'stop' ? budget.limitNanoUsd + 1 : unknownNanoUsd;
      const nanoUsd = Math.max(...worstCases.map((each) => each ?? ofUnknown));
      if (period === null || nanoUsd === 0) return [];
      const reservation = { budgetId: budget.id, periodId: periodId(period), minute, nanoUsd, unknownNanoUsd };
      return [{ budget, reservation, worstCase, until: period.end }];
    });
    const hopeless = parts.find(({ budget, reservation }) => reservation.nanoUsd > budget.limitNanoUsd);
    if (hopeless) return { kind: 'refused', refusal: refusalOf(hopeless) };
    const reservations = parts.map(({ reservation }) => reservation);
    if (parts.length === 0) return { kind: 'reserved', reservations };
    try {
      const refusal = await write(accountId, parts);
      return refusal ? { kind: 'refused', refusal } : { kind: 'reserved', reservations };
    } catch {
      const policy = parts.some(({ budget }) => budget.onUnavailable === 'stop') ? 'stop' : 'pass';
      return { kind: 'unavailable', policy };
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
      // Where this fails, it is freed with its minute.
      await dynamodb('UpdateItem', free, timeoutMs).catch(() => {});
    }
  };

  return Object.assign(reserve, { release });
};
