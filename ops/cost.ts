import { z } from 'zod';
import { runCommand } from './command.ts';
import { PRICES_AS_OF } from './cost/aws-prices.ts';
import { type Cost, lambdaCostPerMillion, requestsInFlight, totalOf } from './cost/estimate.ts';
import { scenarios } from './cost/scenarios.ts';

const USAGE = `npm run cost -- [--memory MB]

What a million tracked requests cost on Lambda, by component, in USD at list price (us-east-1, ${PRICES_AS_OF}), and how many a second fill a
concurrency of 1,000. Provider bills are not in it.

  --memory MB   of the gateway's function (default: 512)`;

const schema = z.object({ memory: z.coerce.number().int().min(128).max(10_240) });

const rounded = (cost: Cost): Record<string, number> =>
  Object.fromEntries(Object.entries(cost).map(([name, usd]) => [name, Number(usd.toFixed(2))]));

await runCommand(
  { usage: USAGE, schema, options: { memory: { type: 'string', default: '512' } } },
  async ({ memory }) => {
    const rows = scenarios.map((traffic) => {
      const cost = lambdaCostPerMillion(traffic, memory);
      return [
        traffic.name,
        {
          ...rounded(cost),
          total: Number(totalOf(cost).toFixed(2)),
          'requests/s at 1,000': Math.floor(1_000 / requestsInFlight(1, traffic.durationMs)),
        },
      ];
    });
    console.table(Object.fromEntries(rows));
  },
);
