import { z } from 'zod';
import { runCommand, wholeNumber } from './command.ts';
import { PRICES_AS_OF } from './cost/aws-prices.ts';
import {
  breakEvenPerSecond,
  type Cost,
  engines,
  fixedCostPerMonth,
  fixedResources,
  idleContainersPerMonth,
  lambdaCostPerMillion,
  monthlyCost,
  requestsInFlight,
  scenarios,
  storagePerMonth,
  totalOf,
} from './cost/estimate.ts';
import { scaleRow } from './cost/limits.ts';

const USAGE = `npm run cost -- [--memory MB] [--retention DAYS]

Prints what AWS costs, in USD at list price (us-east-1, ${PRICES_AS_OF}): a million tracked requests on Lambda, by component, with the
rate that fills a concurrency of 1,000; a month at steady rates on Lambda and in containers, and the rate from which containers cost
less; the limit that a rate meets first; a month of a stage without traffic.

  --memory MB        of the gateway's function on Lambda (default: 512)
  --retention DAYS   how long records are kept: 30, 90 or 400 by plan (default: 90)`;

const schema = z.object({
  memory: wholeNumber.min(128).max(10_240).default(512),
  retention: wholeNumber.min(1).max(400).default(90),
});

const RATES = [1, 10, 100, 1_000];
const SCALE_RATES = [10, 100, 1_000, 10_000];
const SCALE_TRAFFIC = ['chat, not streamed', 'long stream'];
const rounded = (cost: Cost): Record<string, number> =>
  Object.fromEntries(Object.entries(cost).map(([name, usd]) => [name, Number(usd.toFixed(2))]));

const withTotal = (cost: Cost) => ({ ...rounded(cost), total: Number(totalOf(cost).toFixed(2)) });

await runCommand({ usage: USAGE, schema }, async ({ memory: memoryMb, retention: retentionDays }) => {
  const assumptions = { memoryMb, retentionDays };
  console.log('A million requests on Lambda');
  console.table(
    Object.fromEntries(
      scenarios.map((traffic) => [
        traffic.name,
        {
          ...withTotal(lambdaCostPerMillion(traffic, memoryMb)),
          'requests/s at 1,000': Math.floor(1_000 / requestsInFlight(1, traffic.durationMs)),
        },
      ]),
    ),
  );

  console.log(`A month at a steady rate, records kept ${retentionDays} days`);
  const months = scenarios.flatMap((traffic) =>
    RATES.map((rate) => [
      `${traffic.name}, ${rate}/s`,
      {
        ...Object.fromEntries(
          engines.map((engine) => [engine, Math.round(monthlyCost(engine, traffic, rate, assumptions))]),
        ),
        'storage and recovery, in it': Math.round(storagePerMonth(rate, retentionDays).usd),
      },
    ]),
  );
  console.table(Object.fromEntries(months));
  for (const traffic of scenarios) {
    const rate = breakEvenPerSecond(traffic, assumptions);
    const from = rate === undefined ? 'at no rate' : rate === 0 ? 'at every rate' : `from ${rate} requests a second`;
    console.log(`${traffic.name}: containers cost less than Lambda ${from}`);
  }

  console.log('What each rate needs, meets first and costs a month, with the defaults of a stage and first quotas');
  console.table(
    engines.flatMap((engine) =>
      scenarios
        .filter(({ name }) => SCALE_TRAFFIC.includes(name))
        .flatMap((traffic) => SCALE_RATES.map((rate) => scaleRow(engine, traffic, rate, assumptions)))
        .map(({ limit = 'none', ...row }) => ({ ...row, limit })),
    ),
  );

  console.log('A month without traffic');
  console.table({
    Lambda: withTotal(fixedCostPerMonth(fixedResources.lambda)),
    containers: withTotal({
      ...fixedCostPerMonth(fixedResources.containers),
      'gateway runs on': idleContainersPerMonth(),
    }),
  });
});
