import { openRouterCostNanoUsd } from '../mock/prompts.ts';
import type { DemoCall } from './calls.ts';
import { listPriceNanoUsd } from './list-prices.ts';

/** Expected sums of a group of calls. */
export interface Sums {
  readonly requests: number;
  /** Sum over the requests whose cost is known. */
  readonly costNanoUsd: number;
  readonly unpricedRequests: number;
  readonly freeRequests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A group's provider, model and tag. */
export interface GroupNames {
  readonly provider: string;
  readonly model: string | null;
  readonly tag: string | null;
}

export type Group = GroupNames & Sums;

const nothing: Sums = {
  requests: 0,
  costNanoUsd: 0,
  unpricedRequests: 0,
  freeRequests: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
};

const add = (a: Sums, b: Sums): Sums => ({
  requests: a.requests + b.requests,
  costNanoUsd: a.costNanoUsd + b.costNanoUsd,
  unpricedRequests: a.unpricedRequests + b.unpricedRequests,
  freeRequests: a.freeRequests + b.freeRequests,
  errors: a.errors + b.errors,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
});

export const total = (sums: readonly Sums[]): Sums => sums.reduce(add, nothing);

const sumsOf = (call: DemoCall): Sums => {
  const one = { ...nothing, requests: 1 };
  if (call.status !== undefined) return { ...one, freeRequests: 1, errors: 1 };
  if (call.model === null) return { ...one, freeRequests: 1 };
  const { inputTokens, outputTokens } = call;
  const cost =
    call.provider === 'openrouter'
      ? openRouterCostNanoUsd(call)
      : listPriceNanoUsd(call.model, inputTokens, outputTokens);
  return { ...one, inputTokens, outputTokens, costNanoUsd: cost ?? 0, unpricedRequests: cost === undefined ? 1 : 0 };
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
    return (Object.keys(nothing) as (keyof Sums)[])
      .filter((member) => a[member] !== b[member])
      .map((member) => `${name}: ${member} is ${b[member]}, expected ${a[member]}`);
  });
};
