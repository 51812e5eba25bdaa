import { createServer, type IncomingMessage } from 'node:http';
import { listen, urlOf } from '../../../fixtures/listen.ts';

/** Tokens and dollars of one model on one day, as the provider counts them. */
export interface BilledDay {
  readonly day: string;
  readonly model: string;
  readonly usd: number;
  readonly input: number;
  readonly cached: number;
  /** Written to a cache (OpenAI); not in `input`. */
  readonly written?: number;
  /** Dollars that the client's own keys are billed (OpenRouter). */
  readonly ownKeyUsd?: number;
  readonly output: number;
  readonly requests: number;
  /** Projects or workspaces that share the cost, where the bill is asked for by these. */
  readonly scopes?: number;
}

export interface MockBills {
  readonly origin: string;
  /** What the mock has billed so far. A test may correct it. */
  days: BilledDay[];
  /** Status codes that the next requests get, before any success. */
  failures: number[];
  /** Takes the place of every success. */
  body: string | null;
  readonly requests: { readonly path: string; readonly query: URLSearchParams }[];
  stop(): Promise<void>;
}

export const CREDENTIAL = 'sk-admin-mock';
/** So few entries that every bill has pages. */
const PAGE = 2;

const unix = (day: string) => Date.parse(day) / 1_000;

/** The costs of a day by project or workspace, where they are asked for so. */
const byScope = (days: readonly BilledDay[], query: URLSearchParams) => {
  const isSplit = [...query.values()].some((value) => value === 'project_id' || value === 'workspace_id');
  return days.flatMap(({ scopes = 1, ...day }) =>
    Array.from({ length: isSplit ? scopes : 1 }, (_, n) => ({
      ...day,
      usd: isSplit ? day.usd / scopes : day.usd,
      scope: isSplit ? `scope_${n}_of_an_organization` : null,
    })),
  );
};

const openai = (path: string, days: readonly BilledDay[], query: URLSearchParams) => {
  const byDay = [...Map.groupBy(days, ({ day }) => day)];
  const bucket = (day: string, results: object[]) => ({
    object: 'bucket',
    start_time: unix(day),
    end_time: unix(day) + 86_400,
    results,
  });
  if (path.endsWith('/costs'))
    return byDay.map(([day, ofDay]) =>
      bucket(
        day,
        byScope(ofDay, query).map(({ model, usd, scope }) => ({
          object: 'organization.costs.result',
          amount: { value: usd, currency: 'usd' },
          line_item: `${model}, output`,
          project_id: scope,
        })),
      ),
    );
  if (path.endsWith('/embeddings')) return [];
  return byDay.map(([day, ofDay]) =>
    bucket(
      day,
      ofDay.map(({ model, input, cached, written = 0, output, requests }) => ({
        object: 'organization.usage.completions.result',
        model,
        input_tokens: input + cached + written,
        input_cached_tokens: cached,
        input_cache_write_tokens: written,
        output_tokens: output,
        num_model_requests: requests,
        project_id: null,
        batch: null,
      })),
    ),
  );
};

const anthropic = (path: string, days: readonly BilledDay[], query: URLSearchParams) =>
  [...Map.groupBy(days, ({ day }) => day)].map(([day, ofDay]) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: `${day}T23:59:59Z`,
    results: path.endsWith('cost_report')
      ? byScope(ofDay, query).map(({ model, usd, scope }) => ({
          currency: 'USD',
          amount: (usd * 100).toFixed(6),
          workspace_id: scope,
          description: `${model} Usage - Output Tokens`,
          cost_type: 'tokens',
          model,
          token_type: 'output_tokens',
        }))
      : ofDay.map(({ model, input, cached, output }) => ({
          model,
          uncached_input_tokens: input,
          cache_read_input_tokens: cached,
          cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
          output_tokens: output,
          server_tool_use: { web_search_requests: 0 },
        })),
  }));

const range = (query: URLSearchParams): [string, string] => {
  const from = query.get('starting_at') ?? new Date(Number(query.get('start_time')) * 1_000).toISOString();
  const to = query.get('ending_at') ?? new Date(Number(query.get('end_time')) * 1_000).toISOString();
  return [from.slice(0, 10), to.slice(0, 10)];
};

const isAllowed = ({ headers }: IncomingMessage) =>
  headers.authorization === `Bearer ${CREDENTIAL}` || headers['x-api-key'] === CREDENTIAL;

/** The bills of OpenAI, Anthropic and OpenRouter in the shapes that their documentation has. They page, limit rates and correct themselves. */
export const startMockBills = async (): Promise<MockBills> => {
  const mock: Omit<MockBills, 'origin' | 'stop'> = { days: [], failures: [], body: null, requests: [] };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://mock');
    mock.requests.push({ path: pathname, query: searchParams });
    const send = (status: number, body: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    if (!isAllowed(request)) return send(401, { error: { message: 'no' } });
    const failure = mock.failures.shift();
    // The connection ends within the response.
    if (failure === 0)
      return response.writeHead(200, { 'content-length': '100' }).write('{"data":', () => response.destroy());
    if (failure !== undefined) return send(failure, { error: { message: 'later' } });
    if (mock.body !== null) return send(200, mock.body);
    if (pathname === '/api/v1/activity')
      return send(200, {
        data: mock.days.map(({ day, model, usd, ownKeyUsd = 0, input, output, requests }) => ({
          date: day,
          model,
          model_permaslug: model,
          endpoint_id: 'e',
          provider_name: 'OpenAI',
          usage: usd,
          byok_usage_inference: ownKeyUsd,
          requests,
          prompt_tokens: input,
          completion_tokens: output,
          reasoning_tokens: 0,
        })),
      });
    const [from, to] = range(searchParams);
    const days = mock.days.filter(({ day }) => day >= from && day < to);
    const read = pathname.startsWith('/v1/organizations/') ? anthropic : openai;
    const all = read(pathname, days, searchParams);
    const at = Number(searchParams.get('page')?.slice('page_'.length) ?? 0);
    const isLast = at + PAGE >= all.length;
    return send(200, {
      data: all.slice(at, at + PAGE),
      has_more: !isLast,
      next_page: isLast ? null : `page_${at + PAGE}`,
    });
  });
  await listen(server);
  return Object.assign(mock, {
    origin: urlOf(server),
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
};
