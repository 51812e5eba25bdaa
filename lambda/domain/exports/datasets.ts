import type { Day } from '../calendar/utc.ts';
import { listCostOf, modelOf, type RequestRecord } from '../spend/request-record.ts';
import type { Usage } from '../usage/usage.ts';
import { type Charge, type ChargePrices, openCharges } from './charges.ts';
import { type Column, type ColumnType, jsonOf, type Value } from './column.ts';
import { costAndUsageColumns, type NamedCharge, type Names } from './cost-and-usage.ts';

const column = (name: string, type: ColumnType, of: (record: RequestRecord) => Value): Column<RequestRecord> => ({
  name,
  type,
  of,
});
const tokens = (name: string, member: keyof Usage & `${string}Tokens`) =>
  column(name, 'count', ({ usage }) => usage?.[member] ?? null);

/** Request records, as `GET /requests/{requestId}` shows them. A cost that is not known is null. */
export const requestColumns: readonly Column<RequestRecord>[] = [
  column('request_id', 'text', ({ requestId }) => requestId),
  column('started_at', 'time', ({ startedAt }) => Date.parse(startedAt)),
  column('provider', 'text', ({ provider }) => provider),
  column('model', 'text', modelOf),
  column('model_requested', 'text', ({ reading }) => reading?.modelRequested ?? null),
  column('model_served', 'text', ({ reading }) => reading?.modelServed ?? null),
  column('service_tier', 'text', ({ reading }) => reading?.serviceTier ?? null),
  column('tag', 'text', ({ tag }) => tag),
  column('key', 'text', ({ keyId }) => keyId),
  column('provider_key', 'text', ({ providerKey }) => providerKey),
  column('client', 'text', ({ client }) => client),
  column('session', 'text', ({ session }) => session?.id ?? null),
  column('agent', 'text', ({ session }) => session?.agentId ?? null),
  column('parent_agent', 'text', ({ session }) => session?.parentAgentId ?? null),
  column('metadata', 'json', ({ metadata }) => jsonOf(metadata)),
  column('method', 'text', ({ method }) => method),
  column('path', 'text', ({ path }) => path),
  column('route', 'text', ({ route }) => route),
  column('outcome', 'text', ({ outcome }) => outcome),
  column('status', 'count', ({ status }) => status),
  column('streamed', 'flag', ({ reading }) => reading?.streamed ?? null),
  column('ttfb_ms', 'number', ({ ttfbMs }) => ttfbMs),
  column('total_ms', 'number', ({ totalMs }) => totalMs),
  column('request_bytes', 'count', ({ requestBytes }) => requestBytes),
  column('response_bytes', 'count', ({ responseBytes }) => responseBytes),
  column('cost_usd', 'nanoUsd', ({ costNanoUsd }) => costNanoUsd),
  column('list_cost_usd', 'nanoUsd', listCostOf),
  column('provenance', 'text', ({ provenance }) => provenance),
  column('price_source', 'text', ({ priceSource }) => priceSource),
  column('price_version', 'text', ({ priceVersion }) => (typeof priceVersion === 'string' ? priceVersion : null)),
  column('reason', 'text', ({ reason }) => reason),
  column('repeat_of', 'text', ({ repeatOf }) => repeatOf),
  column('blocked_by', 'text', ({ blockedBy }) => blockedBy),
  tokens('input_tokens', 'inputTokens'),
  tokens('output_tokens', 'outputTokens'),
  tokens('cache_read_tokens', 'cacheReadTokens'),
  tokens('cache_write_tokens', 'cacheWriteTokens'),
  tokens('reasoning_tokens', 'reasoningTokens'),
  column('usage_source', 'text', ({ reading }) => reading?.usageSource ?? null),
  column('usage_complete', 'flag', ({ reading }) => reading?.complete ?? null),
  column('usage', 'json', ({ usage }) => jsonOf(usage)),
  column('raw_usage', 'json', ({ reading }) => jsonOf(reading?.usage)),
  column('lines', 'json', ({ lines }) => (lines.length > 0 ? JSON.stringify(lines) : null)),
  column('recorded_at', 'time', ({ recordedAt }) => Date.parse(recordedAt)),
];

/** The name of an id when the day is exported. */
export interface Named {
  readonly kind: 'project' | 'member' | 'key';
  readonly id: string;
  readonly name: string;
  /** The project that a key belongs to; null for other ids. */
  readonly project: string | null;
  readonly member: string | null;
}

const namedColumns = (['kind', 'id', 'name', 'project', 'member'] as const).map(
  (name): Column<Named> => ({ name, type: 'text', of: (row) => row[name] }),
);

export const datasetNames = ['cost-and-usage', 'requests', 'names'] as const;
export type DatasetName = (typeof datasetNames)[number];

export const exportFormats = ['parquet', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const MAX_LISTED_DAYS = 93;

/** The facts about an account that the rows of its days need. */
export interface ExportedAccount extends ChargePrices {
  readonly names: readonly Named[];
  /** The names of a key and its project; of the account alone where the row is of no request. */
  readonly namesOf: (keyId: string | null) => Names;
}

interface Rows<Row> {
  readonly ofRequest: (record: RequestRecord) => readonly Row[];
  /** Rows that no request makes, after all requests. */
  readonly ofDay: () => readonly Row[];
}

interface Dataset<Row> {
  readonly columns: readonly Column<Row>[];
  readonly open: (day: Day, account: ExportedAccount) => Rows<Row>;
}

const dataset = <Row>(columns: readonly Column<Row>[], open: Dataset<Row>['open']): Dataset<unknown> => ({
  columns: columns as readonly Column<unknown>[],
  open,
});

/** A day's export: which columns, and which rows it has. */
export const datasets: Readonly<Record<DatasetName, Dataset<unknown>>> = {
  'cost-and-usage': dataset<NamedCharge>(costAndUsageColumns, (day, { namesOf, ...prices }) => {
    const charges = openCharges(day, prices);
    const named = (charge: Charge): NamedCharge => ({ ...charge, names: namesOf(charge.record?.keyId ?? null) });
    return {
      ofRequest: (record) => charges.ofRequest(record).map(named),
      ofDay: () => charges.ofDay().map(named),
    };
  }),
  requests: dataset(requestColumns, () => ({ ofRequest: (record) => [record], ofDay: () => [] })),
  names: dataset<Named>(namedColumns, (_, { names }) => ({ ofRequest: () => [], ofDay: () => names })),
};
