import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callApi } from '../call-api.ts';
import { type Group, total } from './expectation.ts';

const sums = {
  requests: z.number(),
  costNanoUsd: z.number().nullable(),
  unpricedRequests: z.number(),
  freeRequests: z.number(),
  errors: z.number(),
  tokens: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
};

const spendSchema = z.object({
  totals: z.object({ ...sums, unfinishedRequests: z.number(), bypassedRequests: z.number() }),
  groups: z.array(
    z.object({ provider: z.string(), model: z.string().nullable(), tag: z.string().nullable(), ...sums }),
  ),
});

export type Spend = z.infer<typeof spendSchema>;

const POLL_MS = 100;
const FINISH_TIMEOUT_MS = 30_000;

/** Spend by provider, model and tag, once that many requests are recorded and finished. */
export const finishedSpend = async (
  url: string,
  token: string,
  requests: number,
  interruption: AbortSignal,
): Promise<Spend> => {
  const deadline = Date.now() + FINISH_TIMEOUT_MS;
  for (;;) {
    const spend = await callApi(`${url}/api/spend?groupBy=provider&groupBy=model&groupBy=tag`, spendSchema, token);
    const { totals } = spend;
    if ((totals.requests >= requests && totals.unfinishedRequests === 0) || Date.now() > deadline) return spend;
    await delay(POLL_MS, undefined, { signal: interruption });
  }
};

/** The report's groups in the form of the expectation. An unknown cost counts as 0 here; `unpricedRequests` counts it. */
export const groupsOf = ({ groups }: Spend): Group[] =>
  groups.map(({ tokens, costNanoUsd, ...group }) => ({ ...group, ...tokens, costNanoUsd: costNanoUsd ?? 0 }));

/** Nano-USD as dollars with all nine decimals: `$0.000450000`. */
export const dollars = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(9)}`;

/** The text of a cost: an unknown cost is never $0. */
const cost = (sums: ReturnType<typeof total>): string => {
  const { costNanoUsd, unpricedRequests } = sums;
  if (costNanoUsd === 0 && unpricedRequests > 0) return 'unknown';
  return unpricedRequests > 0 ? `${dollars(costNanoUsd)} + ${unpricedRequests} unknown` : dollars(costNanoUsd);
};

const remarks = ({ freeRequests, errors }: ReturnType<typeof total>): string =>
  [errors > 0 && `${errors} refused`, freeRequests > errors && `${freeRequests - errors} free`]
    .filter(Boolean)
    .join(', ');

/** Spend by one member of the groups, the costliest first. */
export const spendTable = (groups: readonly Group[], by: 'provider' | 'model' | 'tag'): string => {
  const rows = [...Map.groupBy(groups, (group) => group[by])]
    .map(([name, members]) => ({ name, sums: total(members) }))
    .sort((a, b) => b.sums.costNanoUsd - a.sums.costNanoUsd)
    .map(({ name, sums }) => [
      name ?? '(none)',
      String(sums.requests),
      sums.inputTokens.toLocaleString('en'),
      sums.outputTokens.toLocaleString('en'),
      cost(sums),
      remarks(sums),
    ]);
  const table = [[by, 'requests', 'tokens in', 'tokens out', 'cost', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table
    .map((row) =>
      row
        .map((value, column) =>
          column === 0 || column === 5 ? value.padEnd(widths[column] ?? 0) : value.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
};
