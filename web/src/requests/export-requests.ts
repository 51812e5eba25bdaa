import { csvField } from '../../../lambda/domain/spend/spend-csv.ts';
import type { Api } from '../api/client.ts';
import type { RequestSummary } from '../api/responses.ts';
import { saveCsv } from '../spend/export-spend.ts';
import type { RequestsSearch } from './search.ts';

/** Exports of whole days have no such limit: see docs/integrations.md. */
const MAX_ROWS = 5_000;
const PAGE = 200;

const columns: readonly [string, (request: RequestSummary) => string | number | null][] = [
  ['started_at', ({ startedAt }) => startedAt],
  ['request_id', ({ requestId }) => requestId],
  ['provider', ({ provider }) => provider],
  ['model', ({ model }) => model],
  ['tag', ({ tag }) => tag],
  ['service_key', ({ key }) => key],
  ['client', ({ client }) => client],
  ['session', ({ session }) => session?.id ?? null],
  ['outcome', ({ outcome }) => outcome],
  ['blocked_by', ({ blockedBy }) => blockedBy],
  ['status', ({ status }) => status],
  ['input_tokens', ({ inputTokens }) => inputTokens],
  ['output_tokens', ({ outputTokens }) => outputTokens],
  ['duration_ms', ({ totalMs }) => totalMs],
  ['cost_usd', ({ costUsd }) => costUsd],
  ['provenance', ({ provenance }) => provenance],
];

/**
 * Downloads the requests that pass the filters, in the order shown, as CSV.
 *
 * @returns whether the file holds all, and how many requests it lacks since their records cannot be read
 * @throws the API's error body
 */
export const exportRequests = async ({ client }: Api, search: RequestsSearch) => {
  const rows: RequestSummary[] = [];
  let cursor: string | null = null;
  let unreadableRequests = 0;
  do {
    const query = { ...search, limit: PAGE, ...(cursor !== null && { cursor }) };
    const { data, error }: Awaited<ReturnType<typeof readPage>> = await readPage(client, query);
    if (!data) throw error;
    rows.push(...data.items);
    unreadableRequests += data.unreadableRequests;
    cursor = data.nextCursor;
  } while (cursor !== null && rows.length < MAX_ROWS);
  const lines = [
    columns.map(([name]) => name),
    ...rows.map((request) => columns.map(([, fieldOf]) => csvField(fieldOf(request)))),
  ];
  saveCsv('ai-requests.csv', lines.map((fields) => `${fields.join(',')}\r\n`).join(''));
  return { isWhole: cursor === null, unreadableRequests };
};

const readPage = (
  client: Api['client'],
  query: RequestsSearch & { readonly limit: number; readonly cursor?: string },
) => client.GET('/requests', { params: { query } });
