import { openRouterCostNanoUsd } from '../mock/providers.ts';
import type { DemoCall } from './calls.ts';

/**
 * List prices in USD per million tokens, typed off the providers' price pages for the demo alone (2026-11): the demo's
 * expectation must not come from the price book it checks.
 */
const listPrices: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'claude-sonnet-4-6': { input: 3, output: 15 },
  'claude-haiku-4-5': { input: 1, output: 5 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-pro': { input: 1.25, output: 10 },
  'llama-3.3-70b-versatile': { input: 0.59, output: 0.79 },
};

/** A dollar per million tokens is a thousand nano-dollars per token. */
const NANO_PER_TOKEN = 1_000;

/** @returns nano-USD; undefined for a model whose price nobody publishes */
const listPriceNanoUsd = (model: string, inputTokens: number, outputTokens: number): number | undefined => {
  const price = listPrices[model];
  return price && Math.round((inputTokens * price.input + outputTokens * price.output) * NANO_PER_TOKEN);
};

/** Sums of a group of calls. The cost is that of the requests whose cost is known. */
const sumNames = [
  'requests',
  'costNanoUsd',
  'unpricedRequests',
  'freeRequests',
  'errors',
  'inputTokens',
  'outputTokens',
] as const;
type Sums = Readonly<Record<(typeof sumNames)[number], number>>;

/** A group's provider, model and tag. */
export interface GroupNames {
  readonly provider: string;
  readonly model: string | null;
  readonly tag: string | null;
}

export type Group = GroupNames & Sums;

export const total = (sums: readonly Partial<Sums>[]): Sums =>
  Object.fromEntries(
    sumNames.map((name) => [name, sums.reduce((sum, { [name]: amount = 0 }) => sum + amount, 0)]),
  ) as Sums;

const sumsOf = (call: DemoCall): Partial<Sums> => {
  if (call.status !== undefined) return { requests: 1, freeRequests: 1, errors: 1 };
  if (call.model === null) return { requests: 1, freeRequests: 1 };
  const { inputTokens, outputTokens } = call;
  const cost =
    call.provider === 'openrouter'
      ? openRouterCostNanoUsd(call)
      : listPriceNanoUsd(call.model, inputTokens, outputTokens);
  return {
    requests: 1,
    inputTokens,
    outputTokens,
    ...(cost === undefined ? { unpricedRequests: 1 } : { costNanoUsd: cost }),
  };
};

const key = ({ provider, model, tag }: GroupNames): string => JSON.stringify([provider, model, tag]);

/** Expected spend report of the calls, by provider, model and tag, from what was sent and the list prices alone. */
export const expectedGroups = (calls: readonly DemoCall[]): Group[] =>
  [...Map.groupBy(calls, key).values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ provider: first.provider, model: first.model, tag: first.tag, ...total(group.map(sumsOf)) }] : [];
  });

/** Every difference between two lists of groups, one line each. */
export const differences = (expected: readonly Group[], reported: readonly Group[]): string[] => {
  const byKey = (groups: readonly Group[]) => new Map(groups.map((group) => [key(group), group]));
  const [wanted, found] = [byKey(expected), byKey(reported)];
  return [...new Set([...wanted.keys(), ...found.keys()])].flatMap((name) => {
    const [a, b] = [wanted.get(name), found.get(name)];
    if (!a || !b) return [`${name}: ${a ? 'missing from the report' : 'reported, but never sent'}`];
    return sumNames
      .filter((member) => a[member] !== b[member])
      .map((member) => `${name}: ${member} is ${b[member]}, expected ${a[member]}`);
  });
};
