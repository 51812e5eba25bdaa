import { type Block, blocksOf, type ReservedBudget, remainingOf, reservedOf } from '../../domain/limits/block.ts';
import { startsNothing } from '../../domain/price/free-requests.ts';
import type { Admitted } from '../admission/admit.ts';
import { type GatewayErrorResponse, gatewayErrorResponse } from '../protocol/gateway-error.ts';
import type { RequestIdentity } from './request-identity.ts';
import type { NotEnough } from './reserve.ts';

/** Why a request is not forwarded: the block that it is in, a budget that it does not fit, or that neither could be read. */
export type Refusal = Block | NotEnough | 'blocks-unread';

/** Effect of an account's blocks on one request. */
export interface BudgetCheck {
  readonly refusal: Refusal | undefined;
  /** Blocks of one model that the request is in, if it asks for that model. */
  readonly ofModels: readonly Block[];
  /** Budgets that the request reserves from; of those of one model, if it asks for that model. */
  readonly reserved: readonly ReservedBudget[];
  /** The least that its budgets have left, where the account wants to show it. */
  readonly remainingNanoUsd: number | null;
}

const NANO_USD = 1e9;

/** Undefined for an account without budgets that stop requests. */
export const checkBudgets = (
  { owner, blocks }: Admitted,
  identity: RequestIdentity,
  now: Date,
): BudgetCheck | undefined => {
  if (blocks === undefined) return undefined;
  if (blocks === 'unavailable')
    return {
      refusal: owner?.withoutBlocks === 'stop' ? 'blocks-unread' : undefined,
      ofModels: [],
      reserved: [],
      remainingNanoUsd: null,
    };
  // A budget refuses what costs: what is paid for can be fetched.
  const isFree = blocks.blocks.length + blocks.reserved.length > 0 && startsNothing(identity);
  const inForce = blocksOf(blocks, identity, now).filter(({ kind }) => kind === 'pause' || !isFree);
  return {
    refusal: inForce.find(({ scope }) => scope.model === undefined),
    ofModels: inForce.filter(({ scope }) => scope.model !== undefined),
    reserved: isFree ? [] : reservedOf(blocks, identity),
    remainingNanoUsd: remainingOf(blocks, identity, now),
  };
};

/** True where the body must be read before the request is forwarded. */
export const needsBody = (budgets: BudgetCheck | undefined): boolean =>
  budgets !== undefined && budgets.ofModels.length + budgets.reserved.length > 0;

/** A date, with which providers name a version of a model: `-2024-08-06`, `-20250514`, `@20250514`, `-0613`. */
const VERSION = /^[-@](\d{4}|\d{4}-?\d{2}-?\d{2})$/;

/** True where both names are of one model, one of them perhaps with its version: spend names the model that served a request. */
export const isSameModel = (requested: string, model: string): boolean => {
  const [short, long] = requested.length < model.length ? [requested, model] : [model, requested];
  return short === long || (long.startsWith(short) && VERSION.test(long.slice(short.length)));
};

/** The value of X-Service-Budget-Remaining: USD, down to a nano-dollar; below zero where more was spent than the budget has. */
export const remainingHeader = (nanoUsd: number): string => (nanoUsd / NANO_USD).toFixed(9);

/** When to come back where only running requests are in the way. */
const RUNNING_SECONDS = 30;

/** True where what is spent leaves enough: the request fits as soon as others have ended. */
const fitsLater = (refusal: Block | NotEnough): boolean =>
  'neededNanoUsd' in refusal &&
  refusal.neededNanoUsd !== null &&
  refusal.spentNanoUsd !== null &&
  refusal.amountNanoUsd !== null &&
  refusal.spentNanoUsd + refusal.neededNanoUsd <= refusal.amountNanoUsd;

/** The response to a request that is not forwarded. SDKs must not send it again, unless only the gateway's knowledge is missing. */
export const refusalResponse = (refusal: Refusal, requestId: string, now: Date): GatewayErrorResponse => {
  if (refusal === 'blocks-unread') {
    const response = gatewayErrorResponse('BUDGET_UNKNOWN', requestId);
    return { ...response, headers: [...response.headers, 'Retry-After', '5'] };
  }
  const { id, kind, name, until, amountNanoUsd, spentNanoUsd } = refusal;
  const usd = (member: string, nanoUsd: number | null) => nanoUsd !== null && { [member]: nanoUsd / NANO_USD };
  const response = gatewayErrorResponse(
    kind === 'budget' ? 'BUDGET_EXCEEDED' : 'PAUSED',
    requestId,
    until === null ? `“${name}”, until it is ended` : `“${name}”, until ${until}`,
    {
      [kind]: {
        id,
        name,
        ...usd('amountUsd', amountNanoUsd),
        ...usd('spentUsd', spentNanoUsd),
        ...('neededNanoUsd' in refusal && {
          ...usd('reservedUsd', refusal.reservedNanoUsd),
          ...usd('neededUsd', refusal.neededNanoUsd),
        }),
        until,
      },
    },
  );
  const untilMs = until === null || fitsLater(refusal) ? null : Date.parse(until) - now.getTime();
  const seconds = fitsLater(refusal) ? RUNNING_SECONDS : untilMs && Math.max(1, Math.ceil(untilMs / 1_000));
  return {
    ...response,
    headers: [
      ...response.headers,
      'x-should-retry',
      'false',
      ...(seconds === null ? [] : ['Retry-After', String(seconds)]),
    ],
  };
};
