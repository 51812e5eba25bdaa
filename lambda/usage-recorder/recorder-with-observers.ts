import type { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openModelUse } from '../data/prices/model-use.ts';
import { openPriceDrift } from '../data/prices/price-drift.ts';
import type { Table } from '../data/table/table.ts';
import { queueSender } from '../integrations/queue-sender.ts';
import type { MetricLog } from '../on-schedule.ts';
import { modelUse, reportedCosts, useObservers, withObservers } from './observers.ts';
import { newestBook, openRecorder, type Recorder } from './recorder.ts';
import { budgetJudging } from './request-judging.ts';
import { traffic } from './traffic.ts';
import { openValueAlerts } from './value-alerts.ts';

/** The recorder of the functions, with all that follows from recorded requests: events of the queue and of the outbox are treated alike. */
export const openRecorderWithObservers = (
  table: Table,
  jobQueueUrl: string,
  { logger, metrics }: { readonly logger: Pick<Logger, 'error'>; readonly metrics: MetricLog },
): Recorder => {
  const accountTerms = openAccountTerms(table);
  const loadBook = newestBook(table, { logger, metrics });
  return withObservers(
    openRecorder(table, { logger, accountTerms, loadBook }),
    [
      budgetJudging({ accountTerms, send: queueSender(jobQueueUrl) }),
      openValueAlerts(table),
      ...useObservers(table),
      modelUse(openModelUse(table).note),
      reportedCosts(openPriceDrift(table).add, loadBook),
      traffic(() => new Metrics({ serviceName: 'gateway' })),
    ],
    logger,
  );
};
