import { Metrics } from '@aws-lambda-powertools/metrics';
import { openOutbox } from '../../data/ledger/outbox.ts';
import { openModelUse } from '../../data/prices/model-use.ts';
import { openTable } from '../../data/table/table.ts';
import { metricsEnvironment } from '../../environment.ts';
import { onSchedule } from '../../on-schedule.ts';
import { modelUse, useObservers, withObservers } from '../observers.ts';
import { newestBook, openRecorder } from '../recorder.ts';
import { traffic } from '../traffic.ts';
import { openValueAlerts } from '../value-alerts.ts';
import { sweepOutbox } from './sweep-outbox.ts';

const table = openTable(metricsEnvironment.parse(process.env).TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('usage-sweep');
const sweep = sweepOutbox({
  outbox: openOutbox(table),
  record: withObservers(
    openRecorder(table, { logger, loadBook: newestBook(table, { logger, metrics }) }),
    [
      openValueAlerts(table),
      ...useObservers(table),
      modelUse(openModelUse(table).note),
      traffic(() => new Metrics({ serviceName: 'gateway' })),
    ],
    logger,
  ),
  logger,
  metrics,
  now: Date.now,
});

/** Runs every minute: records the usage events that the gateway wrote to the outbox while the queue was down. */
export const handler = handlerOf(sweep);
