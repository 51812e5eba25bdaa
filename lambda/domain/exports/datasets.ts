import type { RequestRecord } from '../spend/request-record.ts';
import { chargesOf } from './charges.ts';
import type { Column } from './column.ts';
import { costAndUsageColumns } from './cost-and-usage.ts';
import { requestColumns } from './request-records.ts';

export const datasetNames = ['cost-and-usage', 'requests'] as const;
export type DatasetName = (typeof datasetNames)[number];

export const exportFormats = ['parquet', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Days of one list of exports. */
export const MAX_LISTED_DAYS = 93;

interface Dataset<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rowsOf: (record: RequestRecord) => readonly Row[];
}

const dataset = <Row>(columns: readonly Column<Row>[], rowsOf: Dataset<Row>['rowsOf']): Dataset<unknown> => ({
  columns: columns as readonly Column<unknown>[],
  rowsOf,
});

/** A day's export: which columns, and which rows a record has. */
export const datasets: Readonly<Record<DatasetName, Dataset<unknown>>> = {
  'cost-and-usage': dataset(costAndUsageColumns, chargesOf),
  requests: dataset(requestColumns, (record) => [record]),
};
