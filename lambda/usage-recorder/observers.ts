import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import { uuidv7 } from 'uuidv7';
import { openLastUse } from '../data/accounts/key-usage.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBillingAccounts } from '../data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../data/billing/billing-usage.ts';
import type { ModelUse } from '../data/prices/model-use.ts';
import type { PriceDrift } from '../data/prices/price-drift.ts';
import { accountServiceKeyKey } from '../data/table/keys.ts';
import type { Table } from '../data/table/table.ts';
import { type Day, dayOf } from '../domain/calendar/utc.ts';
import type { PriceBook } from '../domain/price/rates.ts';
import { type ReportedCosts, reportedCostsOf } from '../domain/price/reported-costs.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { modelsIn } from '../domain/usage/parts.ts';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import { openPlanAlerts } from './plan-alerts.ts';
import type { EventResult, Recorder } from './recorder.ts';

/** A batch of events after it was recorded. */
interface RecordedBatch {
  readonly events: readonly UsageEvent[];
  /** In the order of the events. */
  readonly results: readonly EventResult[];
  /** The records that the batch wrote. */
  readonly records: readonly RequestRecord[];
  /** These, and those of events that came again: who wrote them may have died before observers saw them. */
  readonly seen: readonly RequestRecord[];
}

type Task = () => Promise<unknown>;

/** Does what follows from recorded requests, but is no part of recording them. */
export interface Observer {
  readonly name: string;
  /** @returns tasks that do not depend on each other */
  readonly observe: (batch: RecordedBatch) => Iterable<Task> | Promise<Iterable<Task>>;
}

/** A task for each of some values. */
export const tasksFor = <T>(values: Iterable<T>, act: (value: T) => Promise<unknown>): Task[] =>
  Array.from(values, (value) => () => act(value));

const TASKS_AT_ONCE = 16;

/**
 * A recorder whose batches are shown to observers, one after the other. A task that fails is logged, and neither changes a result nor
 * keeps other tasks from running.
 */
export const withObservers =
  (record: Recorder, observers: readonly Observer[], logger: Pick<Logger, 'error'>): Recorder =>
  async (events) => {
    const results = await record(events);
    const records = results.flatMap((result) => (result.kind === 'recorded' ? [result.record] : []));
    const seen = results.flatMap((result) => ('record' in result && result.record) || []);
    for (const { name, observe } of observers) {
      const logged = async (task: Task): Promise<void> => {
        try {
          await task();
        } catch (error) {
          logger.error('Observer failed', { observer: name, errorName: (error as Error).name });
        }
      };
      await logged(async () =>
        pMap(await observe({ events, results, records, seen }), logged, { concurrency: TASKS_AT_ONCE }),
      );
    }
    return results;
  };

/** The latest record of each name; records without a name are left out. */
const latestBy = (records: readonly RequestRecord[], nameOf: (record: RequestRecord) => string | null) => {
  const latest = new Map<string, RequestRecord>();
  for (const record of records) {
    const name = nameOf(record);
    if (name !== null && (latest.get(name)?.startedAt ?? '') < record.startedAt) latest.set(name, record);
  }
  return [...latest.values()];
};

/** Notes when keys were last used. */
export const keyUse = (note: ReturnType<typeof openLastUse>): Observer => ({
  name: 'key use',
  observe: ({ seen }) =>
    tasksFor(
      latestBy(seen, ({ keyId }) => keyId),
      ({ accountId, keyId, startedAt }) => note(accountServiceKeyKey(accountId, keyId as string), startedAt),
    ),
});

/** Notifies accounts that are near the limit of their plan. */
export const planUse = (checkPlan: ReturnType<typeof openPlanAlerts>): Observer => ({
  name: 'plan use',
  observe: ({ records }) =>
    tasksFor(
      latestBy(records, (record) => record.accountId),
      ({ accountId, startedAt }) => checkPlan(accountId, startedAt),
    ),
});

/** Observes the use of keys and plans, over one table. */
export const useObservers = (table: Table): readonly Observer[] => [
  keyUse(openLastUse(table)),
  planUse(openPlanChecks(table)),
];

/** Checks plans over one table: see openPlanAlerts. */
export const openPlanChecks = (table: Table) =>
  openPlanAlerts({
    findAccount: openBillingAccounts(table).find,
    usage: openPeriodUsage(table),
    notify: openAlerts(table).notify,
    newAlertId: uuidv7,
    now: () => new Date(),
  });

/** Notes which accounts use which models, where the cost depends on the price book. */
export const modelUse = (note: (use: ModelUse) => Promise<void>): Observer => ({
  name: 'model use',
  observe: ({ seen }) => {
    const uses = new Map<string, ModelUse>();
    for (const record of seen) {
      const { accountId, provider, provenance, startedAt, reading } = record;
      if (reading === null || provenance === 'free' || provenance === 'provider') continue;
      for (const model of modelsIn(reading)) {
        const use = { day: dayOf(startedAt), accountId, provider, model: model.toLowerCase() };
        uses.set(Object.values(use).join(' '), use);
      }
    }
    return tasksFor(uses.values(), note);
  },
});

/** Compares the price book with the costs that providers report, for an alarm. No spend depends on these sums. */
export const reportedCosts = (add: PriceDrift['add'], loadBook: () => Promise<PriceBook>): Observer => ({
  name: 'reported costs',
  observe: async ({ records }) => {
    const findPrice = await loadBook();
    const sums = new Map<string, { readonly day: Day; readonly costs: ReportedCosts }>();
    for (const record of records) {
      const costs = reportedCostsOf(record, findPrice);
      if (!costs) continue;
      const day = dayOf(record.startedAt);
      const name = `${day} ${costs.provider} ${costs.model}`;
      const before = sums.get(name)?.costs;
      const sum = before && {
        ...costs,
        requests: before.requests + 1,
        reportedNanoUsd: before.reportedNanoUsd + costs.reportedNanoUsd,
        bookNanoUsd: before.bookNanoUsd + costs.bookNanoUsd,
      };
      sums.set(name, { day, costs: sum ?? costs });
    }
    return tasksFor(sums.values(), ({ day, costs }) => add(day, costs));
  },
});
