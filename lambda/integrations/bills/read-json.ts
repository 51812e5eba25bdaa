import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { BillError } from './bill-source.ts';

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 16_000_000;
const MAX_ATTEMPTS = 4;
const MAX_PAUSE_MS = 10_000;
/** More than any bill of the days that are asked for. */
const MAX_PAGES = 100;

export interface JsonRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const bodyOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new BillError('The provider sent more than 16 MB.');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof BillError ? error : new BillError('The provider’s response was interrupted.');
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Milliseconds that the provider asks to wait, at most ten seconds. */
const pauseOf = (response: Response, attempt: number): number => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Math.min(Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : 500 * 2 ** attempt, MAX_PAUSE_MS);
};

const attempt = async ({ url, headers }: JsonRequest): Promise<Response> => {
  try {
    return await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new BillError('The provider cannot be reached.');
  }
};

/**
 * A response of the shape that the schema says. Rate limits and errors of the provider are waited for a few times.
 *
 * @throws BillError
 */
export const readJson = async <S extends z.ZodMiniType>(request: JsonRequest, schema: S): Promise<z.output<S>> => {
  for (let count = 0; ; count += 1) {
    const response = await attempt(request);
    const { status } = response;
    if (status === 200) {
      const body = await bodyOf(response);
      try {
        return schema.parse(JSON.parse(body));
      } catch {
        throw new BillError('The provider’s response has another shape than its documentation says.');
      }
    }
    await response.body?.cancel();
    if (status === 401 || status === 403)
      throw new BillError(`The provider refused the credential (${status}): it must be allowed to read costs.`, true);
    const isTransient = status === 429 || status >= 500;
    if (!isTransient || count + 1 >= MAX_ATTEMPTS) throw new BillError(`The provider responded with ${status}.`);
    await pause(pauseOf(response, count));
  }
};

/** A response that may have a next page. */
const page = <S extends z.ZodMiniType>(result: S) =>
  z.object({
    data: z.array(result),
    has_more: z._default(z.boolean(), false),
    next_page: z._default(z.nullable(z.string()), null),
  });

/**
 * Every entry of all pages; the cursor of the next one goes into the query parameter `page`.
 *
 * @throws BillError
 */
export async function* readPages<S extends z.ZodMiniType>(
  { url, headers }: JsonRequest,
  entry: S,
): AsyncGenerator<z.output<S>> {
  const schema = page(entry);
  let cursor: string | null = null;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const next = new URL(url);
    if (cursor !== null) next.searchParams.set('page', cursor);
    const { data, has_more, next_page }: z.output<typeof schema> = await readJson({ url: next, headers }, schema);
    yield* data as z.output<S>[];
    if (!has_more || next_page === null) return;
    cursor = next_page;
  }
  throw new BillError(`The provider’s bill has more than ${MAX_PAGES} pages.`);
}
