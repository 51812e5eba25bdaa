import { type Dialect, hasNoOutput } from './dialect.ts';
import { countOf, isRaw, type Raw } from './raw.ts';

/**
 * Problem of a usage object of which only a part can be read. `derived`: a side (input or output) is what the other one leaves of
 * the total, or a detail cannot be read. `missing`: a side is not known at all.
 */
export type UsageGap = 'derived' | 'missing';

export interface Sides {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly gap?: UsageGap;
}

/** True for a member that is there and is no count: negative, no number, or past all plausibility. Null stands for none. */
const isUnreadable = (value: unknown): boolean => value !== undefined && value !== null && countOf(value) === null;

/** True where one of these optional members is there and is no count. */
export const hasUnreadable = (raw: Raw, names: readonly string[]): boolean =>
  names.some((name) => isUnreadable(raw[name]));

const COUNT = /(tokens|tokenCount|requests|calls)$/i;

/** The same of any count, without which tokens would be priced as text that is not cached. */
export const hasUnreadableDetail = (raw: Raw): boolean =>
  [raw, ...Object.values(raw).flat()]
    .flatMap((part) => (isRaw(part) ? Object.entries(part) : []))
    .some(([name, each]) => COUNT.test(name) && !isRaw(each) && isUnreadable(each));

/**
 * Both sides of a usage object. An absent output is 0 where the total leaves nothing for it, or where the dialect has none: then a lone
 * total is the input. Otherwise a lone total is neither side.
 */
export const readSides = (reported: { input: unknown; output: unknown; total: unknown }, dialect: Dialect): Sides => {
  const input = countOf(reported.input);
  const output =
    hasNoOutput(dialect) && !isUnreadable(reported.output) ? (countOf(reported.output) ?? 0) : countOf(reported.output);
  const total = countOf(reported.total);
  if (input !== null && output !== null)
    return { inputTokens: input, outputTokens: output, ...(isUnreadable(reported.total) && { gap: 'derived' }) };
  const known = input ?? output;
  if (known === null || total === null || total < known)
    return { inputTokens: input ?? (output === null ? (total ?? 0) : 0), outputTokens: output ?? 0, gap: 'missing' };
  const rest = total - known;
  const isExact =
    input === null
      ? hasNoOutput(dialect) && !isUnreadable(reported.input)
      : reported.output === undefined && rest === 0;
  return { inputTokens: input ?? rest, outputTokens: output ?? rest, ...(!isExact && { gap: 'derived' }) };
};
