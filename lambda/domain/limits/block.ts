import type { OpenEvent } from '../usage/usage-event.ts';
import type { AccessRule } from './access.ts';
import type { EachAmounts, EachName, KeyPlaces, LimitPeriod } from './each.ts';

/*
 * A block stops the requests of a scope until a time: a budget that is used up writes it, and so does a pause. The gateway reads it on
 * its hot path, so this file imports nothing at run time.
 */

/** Which requests a block stops: those that match every member. Without members, all of the account. */
export interface BlockScope {
  readonly provider?: string | undefined;
  /** As the client requests it. */
  readonly model?: string | undefined;
  readonly tag?: string | undefined;
  readonly keyIds?: readonly string[] | undefined;
  readonly client?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Effect on requests while the gateway cannot read the account's blocks. */
export type BlockPolicy = 'pass' | 'stop';

export interface Block {
  /** Id of the budget or pause that wrote it. */
  readonly id: string;
  readonly kind: 'budget' | 'pause';
  readonly name: string;
  readonly scope: BlockScope;
  /** ISO 8601 UTC: requests pass from then on. Null until somebody ends it. */
  readonly until: string | null;
  /** A budget's amount, and what was spent when it was reached. Null for a pause. */
  readonly amountNanoUsd: number | null;
  readonly spentNanoUsd: number | null;
  /** The value that is at its limit, of a limit of each, and where a person asks for more. */
  readonly of?: { readonly each: string; readonly value: string | null; readonly askUrl: string } | undefined;
  /** When a pause began, in ISO 8601 UTC. */
  readonly startedAt?: string | undefined;
  /** The member or token that made a pause. Absent where a rule did, or an earlier version. */
  readonly startedBy?: string | undefined;
  /** The rule that made a pause. */
  readonly ruleId?: string | undefined;
  /** The project whose keys are in the scope, as they were when the pause began. */
  readonly projectId?: string | undefined;
}

/** The remainder of a budget, for the response header that its account asked for. */
interface Remaining {
  readonly id: string;
  readonly scope: BlockScope;
  /** ISO 8601 UTC: the end of the period that it belongs to. */
  readonly until: string;
  readonly nanoUsd: number;
}

/** A budget that requests reserve from, as the gateway knows it. */
export interface ReservedBudget {
  readonly id: string;
  readonly name: string;
  readonly scope: BlockScope;
  readonly period: LimitPeriod;
  readonly amountNanoUsd: number;
  /** Spend and reservations may come to this together. */
  readonly limitNanoUsd: number;
  /** A request whose price is not known: it passes, is refused, or counts as an amount in nano-USD. */
  readonly unknownCost: BlockPolicy | number;
  /** Effect on a request where nothing can be reserved for it. */
  readonly onUnavailable: BlockPolicy;
  /** The value that it reserves for, of a limit of each. */
  readonly of?: Block['of'];
}

/** The effect on a request for which nothing can be reserved: one budget that wants it to stop is enough. */
export const unavailablePolicy = (budgets: readonly Pick<ReservedBudget, 'onUnavailable'>[]): BlockPolicy =>
  budgets.some(({ onUnavailable }) => onUnavailable === 'stop') ? 'stop' : 'pass';

/** A limit of each, as the gateway knows it. */
export interface EachLimit extends EachAmounts {
  readonly id: string;
  readonly name: string;
  readonly each: EachName;
  readonly scope: BlockScope;
  readonly period: LimitPeriod;
  /** From this percentage of its amount on a value is at its limit. */
  readonly percent: number;
  /** Null: it refuses nothing. */
  readonly enforcement: 'lagging' | 'reserved' | null;
  readonly unknownCost: BlockPolicy | number;
  readonly onUnavailable: BlockPolicy;
  readonly showsRemaining: boolean;
  /** Percentages of its amount at which an alert is sent for a value. */
  readonly notifyAt: readonly number[];
  /** The page on which a person asks for more. */
  readonly askUrl: string;
}

/** The gateway's knowledge of what may stop an account's requests. */
export interface Blocks {
  readonly blocks: readonly Block[];
  readonly remaining: readonly Remaining[];
  /** Budgets that requests reserve from. */
  readonly reserved: readonly ReservedBudget[];
  /** Oldest first. */
  readonly access: readonly AccessRule[];
  /** Limits of each, and the places of keys if one of them reads those. Their values are items of their own. */
  readonly each: readonly EachLimit[];
  readonly keys: KeyPlaces;
}

export const NO_BLOCKS: Blocks = { blocks: [], remaining: [], reserved: [], access: [], each: [], keys: {} };

/** Blocks as they are stored: earlier versions had fewer lists. What a later version wrote in them, and next to them, stays. */
export const parseBlocks = (json: string): Blocks => ({ ...NO_BLOCKS, ...JSON.parse(json) });

/** Facts about a request before it is forwarded. The model may be in its body. */
type Request = Pick<OpenEvent, 'provider' | 'keyId' | 'tag' | 'metadata' | 'client' | 'session'>;

const isIn = ({ provider, tag, keyIds, client, sessionId, metadata = {} }: BlockScope, request: Request): boolean =>
  (provider === undefined || provider === request.provider) &&
  (tag === undefined || tag === request.tag) &&
  (client === undefined || client === request.client) &&
  (sessionId === undefined || sessionId === request.session?.id) &&
  (keyIds === undefined || (request.keyId !== null && keyIds.includes(request.keyId))) &&
  Object.entries(metadata).every(([name, value]) => request.metadata?.[name] === value);

export const isInForce = ({ until }: Pick<Block, 'until'>, now: Date): boolean =>
  until === null || Date.parse(until) > now.getTime();

/** The blocks in force that the request is in, as far as is known without its model. */
export const blocksOf = ({ blocks }: Blocks, request: Request, now: Date): Block[] =>
  blocks.filter((block) => isInForce(block, now) && isIn(block.scope, request));

/** The budgets that the request reserves from, as far as is known without its model. */
export const reservedOf = ({ reserved }: Blocks, request: Request): ReservedBudget[] =>
  reserved.filter(({ scope }) => isIn(scope, request));

/** The limits of each that the request is in, as far as is known without its model. */
export const eachOf = ({ each }: Blocks, request: Request): EachLimit[] =>
  each.filter(({ scope }) => isIn(scope, request));

/** The least that budgets have left for the request, in nano-USD. Budgets of a model are not among them. Null without a budget. */
export const remainingOf = ({ remaining }: Blocks, request: Request, now: Date): number | null => {
  const amounts = remaining
    .filter((each) => each.scope.model === undefined && isInForce(each, now) && isIn(each.scope, request))
    .map(({ nanoUsd }) => nanoUsd);
  return amounts.length === 0 ? null : Math.min(...amounts);
};
