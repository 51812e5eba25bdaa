import { listCostOf, modelOf, type RequestRecord } from '../spend/request-record.ts';
import type { Usage } from '../usage/usage.ts';
import { type Column, type ColumnType, jsonOf, type Value } from './column.ts';

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
