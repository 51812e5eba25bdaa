import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import * as z from 'zod/mini';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openRollupMarks } from '../data/ledger/rollup-marks.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSpendCounters } from '../data/spend/spend-counters.ts';
import { openTable } from '../data/table/table.ts';
import type { ExporterEnvironment } from '../environment.ts';
import { openObjectStore } from '../integrations/object-store.ts';
import { exportDay } from './export-day.ts';
import { exportDueDays } from './export-due-days.ts';

const text = z.string().check(z.minLength(1));
const schema: z.ZodMiniType<ExporterEnvironment> = z.object({
  TABLE_NAME: text,
  OBJECT_BUCKET: text,
  POWERTOOLS_METRICS_NAMESPACE: text,
});

const environment = schema.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const metrics = new Metrics({ serviceName: 'exporter' });
const logger = new Logger({ serviceName: 'exporter' });
const dayExports = openDayExports(table);
const exportDue = exportDueDays({
  dayExports,
  exportDay: exportDay({
    accountTerms: openAccountTerms(table),
    dayExports,
    requests: openRequests(table),
    spendCounters: openSpendCounters(table),
    marks: openRollupMarks(table),
    objects: openObjectStore(environment.OBJECT_BUCKET),
    now: Date.now,
  }),
  logger,
  metrics,
});

/** Runs every hour: exports the days that were rolled up since, again where they changed. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await exportDue(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
