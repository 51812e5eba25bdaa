import { z } from 'zod';
import { runCommand } from './command.ts';
import { PRICES_AS_OF } from './cost/aws-prices.ts';
import {
  breakEvenPerSecond,
  type Cost,
  fixedCostPerMonth,
  fixedResources,
  idleContainersPerMonth,
  lambdaCostPerMillion,
  monthlyCost,
  requestsInFlight,
  totalOf,
} from './cost/estimate.ts';
import { scenarios } from './cost/scenarios.ts';

const USAGE = `npm run cost -- [--memory MB]

In USD at list price (us-east-1, ${PRICES_AS_OF}), without provider bills: what a million tracked requests cost on Lambda, by component, and
how many a second fill a concurrency of 1,000; what steady rates cost a month on Lambda and in containers, and from which rate on containers
cost less; what a stage costs a month without traffic. Storage of the table is not in it.

  --memory MB   of the gateway's function (default: 512)`;

const schema = z.object({ memory: z.coerce.number().int().min(128).max(10_240) });

const RATES = [1, 10, 100, 1_000];

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
    console.log('A million requests on Lambda');
    console.table(Object.fromEntries(rows));

    console.log('A month at a steady rate');
    const months = scenarios.flatMap((traffic) =>
      RATES.map((rate) => {
        const { lambda, containers, tasks } = monthlyCost(traffic, rate, memory);
        return [
          `${traffic.name}, ${rate}/s`,
          { Lambda: Math.round(lambda), containers: Math.round(containers), tasks },
        ];
      }),
    );
    console.table(Object.fromEntries(months));
    for (const traffic of scenarios)
      console.log(
        `${traffic.name}: containers cost less from ${breakEvenPerSecond(traffic, memory)} requests a second`,
      );

    console.log('A month without traffic');
    console.table({
      Lambda: rounded(fixedCostPerMonth(fixedResources.lambda)),
      containers: rounded({
        ...fixedCostPerMonth(fixedResources.containers),
        'tasks, load balancer': idleContainersPerMonth(),
      }),
    });
  },
);
