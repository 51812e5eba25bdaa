import type * as z from 'zod/mini';
import { providers } from '../../domain/providers.ts';
import { type TokenCounterName, tokenCounterNames } from '../../domain/spend/counters.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { listBudgets } from '../limits/budget-operations.ts';
import type { readSpend } from '../spend/operations.ts';

/** A value with its labels. Amounts are decimal strings, so that no digit is lost on the way. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | string;
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
}

const escapedHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapedLabel = (text: string) => escapedHelp(text).replaceAll('"', '\\"');

const labelsText = (labels: Readonly<Record<string, string>> = {}): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/**
 * A metric in Prometheus' text format, version 0.0.4, with labels that all its samples have. Not prom-client, which keeps metrics in a process and their values as it rounds them:
 * here they are read again for each scrape.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export const metricText = (
  { name, type, help }: Metric,
  samples: readonly Sample[],
  ofAll: Readonly<Record<string, string>> = {},
): string =>
  [
    `# HELP ${name} ${escapedHelp(help)}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labelsText({ ...labels, ...ofAll })} ${value}`),
    '',
  ].join('\n');

type Report = z.input<typeof readSpend.success.schema>;
type Group = Report['groups'][number];
type Budget = z.input<typeof listBudgets.success.schema>['items'][number];

/** Figures of a scrape. */
interface Readings {
  /** Reports by provider, without gaps: there are fewer providers than groups in a report. */
  readonly month: Report;
  readonly today: Report;
  /** Since spend began, at most five years ago. */
  readonly ever: Report;
  /** Reports by one more dimension each, for the same two periods. */
  readonly grouped: readonly {
    readonly by: string;
    readonly month: Report;
    readonly today: Report;
    /** Names of the values, where those are ids. */
    readonly names: ReadonlyMap<string, string>;
  }[];
  readonly budgets: readonly Budget[];
}

interface ReadMetric extends Metric {
  readonly samples: (readings: Readings) => Sample[];
}

const PERIODS = ['today', 'month'] as const;
/** The others have no samples until there are some. */
const mainKinds: ReadonlySet<TokenCounterName> = new Set(['inputTokens', 'outputTokens']);

/** Counts of every provider. A provider without requests has 0, since Prometheus takes no first value for an increase. */
const byProvider = ({ ever }: Readings, countOf: (group: Group) => number): Sample[] => {
  const counts = new Map<string, number>(providers.map(({ label }) => [label, 0]));
  for (const group of ever.groups) counts.set(group.provider ?? '', countOf(group));
  return [...counts].map(([provider, value]) => ({ labels: { provider }, value }));
};

const inPeriods = (
  readings: Readings,
  samplesOf: (group: Group, currency: string | undefined) => readonly Sample[],
  periods: readonly ((typeof PERIODS)[number] | 'ever')[] = PERIODS,
): Sample[] =>
  periods.flatMap((period) =>
    readings[period].groups.flatMap((group) =>
      samplesOf(group, readings[period].displayCurrency?.code).map(({ labels, value }) => ({
        labels: { period, provider: group.provider ?? '', ...labels },
        value,
      })),
    ),
  );

/** `inputTokens` is `input`, `cacheWrite1hTokens` is `cache_write1h`. */
const kindOf = (name: TokenCounterName): string =>
  name.replace(/Tokens$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The value of a group's one dimension, empty for requests without one. */
const valueIn = (group: Group, by: string): string =>
  (by.startsWith('dim:') ? group.dim?.[by.slice('dim:'.length)] : group[by as keyof Group & 'model']) ?? '';

/** Known costs by value. No value and an empty one are one series to Prometheus. */
const costsByValue = (groups: readonly Group[], by: string): Map<string, number> => {
  const costs = new Map<string, number>();
  for (const group of groups)
    if (group.costNanoUsd !== null)
      costs.set(valueIn(group, by), (costs.get(valueIn(group, by)) ?? 0) + group.costNanoUsd);
  return costs;
};

const budgetSamples = ({ budgets }: Readings, numberOf: (budget: Budget) => number | string): Sample[] =>
  budgets
    // The amount of each value says nothing about all of them together.
    .filter(({ isActive, each, state }) => isActive && each === undefined && state.period !== null)
    .map((budget) => ({ labels: { budget_id: budget.id, budget: budget.name }, value: numberOf(budget) }));

/**
 * Every metric. Counters hold what only grows in the ledger, since spend began, so that they never begin again. Money is in gauges: repricing may lower it, and Prometheus would take that for a restart too,
 * and count the whole sum a second time.
 */
export const metrics: readonly ReadMetric[] = [
  {
    name: 'ai_spend_cost_usd',
    type: 'gauge',
    help: 'Known cost in USD of today, of this month so far (in the account’s time zone) and ever, by how it is known. No sample if no part of it is known.',
    samples: (readings) =>
      inPeriods(
        readings,
        ({ costUsd, costByProvenance }) =>
          costUsd === null
            ? []
            : Object.entries(costByProvenance).map(([provenance, cost]) => ({
                labels: { provenance },
                value: cost.costUsd ?? 0,
              })),
        [...PERIODS, 'ever'],
      ),
  },
  {
    name: 'ai_spend_display_cost',
    type: 'gauge',
    help: 'Known cost of the same periods in the currency that the account has set, at the rate of each day. No sample if it has set none.',
    samples: (readings) =>
      inPeriods(
        readings,
        ({ displayCost }, currency) => (displayCost && currency ? [{ labels: { currency }, value: displayCost }] : []),
        [...PERIODS, 'ever'],
      ),
  },
  {
    name: 'ai_spend_unknown_cost_requests',
    type: 'gauge',
    help: 'Requests of today and of this month so far whose cost is unknown. No cost includes them.',
    samples: (readings) => inPeriods(readings, ({ unpricedRequests }) => [{ value: unpricedRequests }]),
  },
  {
    name: 'ai_spend_group_cost_usd',
    type: 'gauge',
    help: 'Known cost in USD of today and of this month so far, of the 100 costliest values of the dimension in the label by.',
    samples: ({ grouped }) =>
      PERIODS.flatMap((period) =>
        grouped.flatMap(({ by, names, ...reports }) =>
          [...costsByValue(reports[period].groups, by)].map(([value, nanoUsd]) => ({
            labels: { period, by, value, name: names.get(value) ?? value },
            value: usdOf(nanoUsd),
          })),
        ),
      ),
  },
  {
    name: 'ai_spend_requests_total',
    type: 'counter',
    help: 'Requests since spend began.',
    samples: (readings) => byProvider(readings, ({ requests }) => requests),
  },
  {
    name: 'ai_spend_tokens_total',
    type: 'counter',
    help: 'Tokens since spend began. Only input and output add up: the other kinds are parts of them.',
    samples: (readings) =>
      tokenCounterNames.flatMap((name) =>
        byProvider(readings, ({ tokens }) => tokens[name])
          .filter(({ value }) => value !== 0 || mainKinds.has(name))
          .map(({ labels, value }) => ({ labels: { ...labels, kind: kindOf(name) }, value })),
      ),
  },
  {
    name: 'ai_spend_errors_total',
    type: 'counter',
    help: 'Requests since spend began that the provider rejected, failed or interrupted.',
    samples: (readings) => byProvider(readings, ({ errors }) => errors),
  },
  {
    name: 'ai_spend_bypassed_requests_total',
    type: 'counter',
    help: 'Requests since spend began that were forwarded while tracking failed, and were still counted.',
    samples: (readings) => byProvider(readings, ({ bypassedRequests }) => bypassedRequests),
  },
  {
    name: 'ai_spend_untracked_requests_total',
    type: 'counter',
    help: 'Requests since spend began that were forwarded, and that no other metric counts. An upper bound.',
    samples: ({ ever }) => [{ value: ever.untracked.requests }],
  },
  {
    name: 'ai_spend_request_duration_seconds',
    type: 'gauge',
    help: 'Duration in seconds, within 10 %, that a percentage of the requests of today and of this month so far took at most.',
    samples: (readings) =>
      inPeriods(readings, ({ latency }) =>
        latency
          ? [
              { labels: { percentile: '50' }, value: latency.p50Ms / 1_000 },
              { labels: { percentile: '95' }, value: latency.p95Ms / 1_000 },
            ]
          : [],
      ),
  },
  {
    name: 'ai_spend_budget_amount_usd',
    type: 'gauge',
    help: 'Amount of an active budget for its current period, in USD.',
    samples: (readings) => budgetSamples(readings, ({ amount }) => amount),
  },
  {
    name: 'ai_spend_budget_used_usd',
    type: 'gauge',
    help: 'What the current period of a budget has used, in USD, requests of unknown cost as the budget counts them.',
    samples: (readings) => budgetSamples(readings, ({ state }) => usdOf(state.usedNanoUsd)),
  },
  {
    name: 'ai_spend_budget_unknown_cost_requests',
    type: 'gauge',
    help: 'Requests of unknown cost in the current period of a budget.',
    samples: (readings) => budgetSamples(readings, ({ state }) => state.unpricedRequests),
  },
  {
    name: 'ai_spend_budget_blocking',
    type: 'gauge',
    help: '1 while a budget stops requests, 0 while it does not.',
    samples: (readings) => budgetSamples(readings, ({ state }) => Number(state.isBlocking)),
  },
];
