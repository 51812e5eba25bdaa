import { openOutbox } from '../../data/ledger/outbox.ts';
import { openTable } from '../../data/table/table.ts';
import { sweepEnvironment } from '../../environment.ts';
import { onSchedule } from '../../on-schedule.ts';
import { openRecorderWithObservers } from '../recorder-with-observers.ts';
import { sweepOutbox } from './sweep-outbox.ts';

const { TABLE_NAME, JOB_QUEUE_URL } = sweepEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('usage-sweep');
const sweep = sweepOutbox({
  outbox: openOutbox(table),
  record: openRecorderWithObservers(table, JOB_QUEUE_URL, { logger, metrics }),
  logger,
  metrics,
  now: Date.now,
});

/** Runs every minute: records the usage events that the gateway wrote to the outbox while the queue was down. */
export const handler = handlerOf(sweep);
