import { type Block, blocksOf, remainingOf } from '../../domain/budgets/block.ts';
import type { Admitted } from '../admission/admit.ts';
import { type GatewayErrorResponse, gatewayErrorResponse } from '../protocol/gateway-error.ts';
import type { RequestIdentity } from './request-identity.ts';

/** Why a request is not forwarded: the block that it is in, or that the account's blocks cannot be read. */
export type Refusal = Block | 'blocks-unread';

/** What the blocks of an account mean for one request. */
export interface BudgetCheck {
  readonly refusal: Refusal | undefined;
  /** Blocks of one model that the request is in, if it asks for that model. */
  readonly ofModels: readonly Block[];
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
      remainingNanoUsd: null,
    };
  const inForce = blocksOf(blocks, identity, now);
  return {
    refusal: inForce.find(({ scope }) => scope.model === undefined),
    ofModels: inForce.filter(({ scope }) => scope.model !== undefined),
    remainingNanoUsd: remainingOf(blocks, identity, now),
  };
};

/** A date, with which providers name a version of a model: `-2024-08-06`, `-20250514`, `@20250514`, `-0613`. */
const VERSION = /^[-@](\d{4}|\d{4}-?\d{2}-?\d{2})$/;

/** True where both names are of one model, one of them perhaps with its version: spend names the model that served a request. */
export const isSameModel = (requested: string, model: string): boolean => {
  const [short, long] = requested.length < model.length ? [requested, model] : [model, requested];
  return short === long || (long.startsWith(short) && VERSION.test(long.slice(short.length)));
};

/** The value of X-Service-Budget-Remaining: USD, down to a nano-dollar; below zero where more was spent than the budget has. */
export const remainingHeader = (nanoUsd: number): string => (nanoUsd / NANO_USD).toFixed(9);

/** The response to a request that is not forwarded. SDKs must not send it again, unless only the gateway's knowledge is missing. */
export const refusalResponse = (refusal: Refusal, requestId: string, now: Date): GatewayErrorResponse => {
  if (refusal === 'blocks-unread') {
    const response = gatewayErrorResponse('BUDGET_UNKNOWN', requestId);
    return { ...response, headers: [...response.headers, 'Retry-After', '5'] };
  }
  const { id, kind, name, until, amountNanoUsd, spentNanoUsd } = refusal;
  const response = gatewayErrorResponse(
    kind === 'budget' ? 'BUDGET_EXCEEDED' : 'PAUSED',
    requestId,
    until === null ? `“${name}”, until it is ended` : `“${name}”, until ${until}`,
    {
      [kind]: {
        id,
        name,
        ...(amountNanoUsd !== null && { amountUsd: amountNanoUsd / NANO_USD }),
        ...(spentNanoUsd !== null && { spentUsd: spentNanoUsd / NANO_USD }),
        until,
      },
    },
  );
  const seconds = until === null ? null : Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 1_000));
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
