import * as z from 'zod/mini';
import { addDays, type Day, dayOf } from '../../domain/calendar/utc.ts';
import type { BilledUsage, BillLine } from '../../domain/reconciliation/bill.ts';
import { BillError, type BillSource } from './bill-source.ts';
import { readPages } from './read-json.ts';

/** Amounts were numbers, and are decimal strings in newer responses. */
const amount = z.object({ value: z.coerce.number(), currency: z.string() });
const costs = z.object({
  start_time: z.int(),
  results: z.array(
    z.object({
      amount: z._default(z.nullable(amount), null),
      line_item: z._default(z.nullable(z.string()), null),
    }),
  ),
});
const count = z._default(z.nullable(z.int()), null);
const usage = z.object({
  start_time: z.int(),
  results: z.array(
    z.object({
      model: z._default(z.nullable(z.string()), null),
      input_tokens: count,
      input_cached_tokens: count,
      input_cache_write_tokens: count,
      output_tokens: count,
      num_model_requests: count,
    }),
  ),
});

const dayAt = (seconds: number): Day => dayOf(new Date(seconds * 1_000).toISOString());

/** `gpt-4o-2024-08-06, cached input` names a model; `web search tool calls` and `assistants api | file search` are fees. */
const modelOfItem = (item: string): string | null => {
  const [name = ''] = item.split(', ');
  return /^[\w.:-]+$/.test(name) && /[\d-]/.test(name) ? name : null;
};

/** Usage endpoints that count tokens by model. */
const USAGE = ['completions', 'embeddings'] as const;

/**
 * OpenAI's costs and usage, which an admin key with the permission to read usage may see. Days of costs are complete after some hours.
 * @see https://platform.openai.com/docs/api-reference/usage
 */
export const openaiBill = (origin: string): BillSource => ({
  credential: 'an admin key (sk-admin-…) with the scope api.usage.read',
  maxDays: 31,
  read: async (credential, { from, to }) => {
    const headers = { authorization: `Bearer ${credential}` };
    const request = (path: string, groupBy: readonly string[]) => {
      const url = new URL(`/v1/organization/${path}`, origin);
      url.searchParams.set('start_time', String(Date.parse(from) / 1_000));
      url.searchParams.set('end_time', String(Date.parse(addDays(to, 1)) / 1_000));
      url.searchParams.set('bucket_width', '1d');
      url.searchParams.set('limit', '31');
      for (const name of groupBy) url.searchParams.append('group_by', name);
      return { url, headers };
    };
    const lines: BillLine[] = [];
    for await (const { start_time, results } of readPages(request('costs', ['line_item']), costs)) {
      for (const { amount, line_item } of results) {
        if (amount === null) continue;
        if (amount.currency.toLowerCase() !== 'usd')
          throw new BillError(`The bill is in ${amount.currency}, not in USD.`);
        const item = line_item ?? 'usage';
        lines.push({
          day: dayAt(start_time),
          item,
          model: modelOfItem(item),
          amountNanoUsd: Math.round(amount.value * 1e9),
        });
      }
    }
    const usages: BilledUsage[] = [];
    for (const endpoint of USAGE) {
      for await (const { start_time, results } of readPages(request(`usage/${endpoint}`, ['model']), usage)) {
        for (const result of results) {
          if (result.model === null) continue;
          const [cacheRead, cacheWrite] = [result.input_cached_tokens ?? 0, result.input_cache_write_tokens ?? 0];
          const input = Math.max(0, (result.input_tokens ?? 0) - cacheRead - cacheWrite);
          usages.push({
            day: dayAt(start_time),
            model: result.model,
            tokens: { input, cacheRead, cacheWrite, output: result.output_tokens ?? 0 },
            requests: result.num_model_requests,
          });
        }
      }
    }
    return { lines, usage: usages };
  },
});
