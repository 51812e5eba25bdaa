import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { openNewestBook } from '../data/prices/newest-book.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import type { Table } from '../data/table/table.ts';
import type { PriceBook } from '../domain/price/rates.ts';
import type { ReportMetrics } from './report.ts';

interface Report {
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: ReportMetrics;
}

/** The newest price book, for recorders. A version that cannot be used is logged and counted, and an older one is used. */
export const newestBook = (table: Table, { logger, metrics }: Report): (() => Promise<PriceBook>) =>
  openNewestBook({
    versions: openPriceVersions(table),
    onFallback: ({ name }) => {
      logger.error('Newest prices cannot be used', { errorName: name });
      metrics.addMetric('PriceBookFallbacks', MetricUnit.Count, 1);
    },
  });
