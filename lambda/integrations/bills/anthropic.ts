import * as z from 'zod/mini';
import { addDays, dayOf } from '../../domain/calendar/utc.ts';
import type { BilledUsage, BillLine } from '../../domain/reconciliation/bill.ts';
import { BillError, type BillSource } from './bill-source.ts';
import { readPages } from './read-json.ts';

const text = z._default(z.nullable(z.string()), null);
const costs = z.object({
  starting_at: z.iso.datetime({ offset: true }),
  results: z.array(
    z.object({
      /** Cents, as a decimal string. */
      amount: z.string().check(z.regex(/^-?\d+(\.\d+)?$/)),
      currency: z.string(),
      description: text,
      model: text,
    }),
  ),
});
const count = z._default(z.int(), 0);
const usage = z.object({
  starting_at: z.iso.datetime({ offset: true }),
  results: z.array(
    z.object({
      model: text,
      uncached_input_tokens: count,
      cache_read_input_tokens: count,
      cache_creation: z._default(
        z.nullable(z.object({ ephemeral_1h_input_tokens: count, ephemeral_5m_input_tokens: count })),
        null,
      ),
      output_tokens: count,
    }),
  ),
});

const CENT_NANO_USD = 1e7;

/**
 * Anthropic's cost and usage reports, which an admin key of the organization may see. Individual accounts have none.
 * @see https://platform.claude.com/docs/en/api/admin/cost_report
 */
export const anthropicBill = (origin: string): BillSource => ({
  credential: 'an admin key of the organization (sk-ant-admin…)',
  maxDays: 31,
  read: async (credential, { from, to }) => {
    const headers = { 'x-api-key': credential, 'anthropic-version': '2023-06-01' };
    const request = (path: string, groupBy: readonly string[]) => {
      const url = new URL(`/v1/organizations/${path}`, origin);
      url.searchParams.set('starting_at', `${from}T00:00:00Z`);
      url.searchParams.set('ending_at', `${addDays(to, 1)}T00:00:00Z`);
      url.searchParams.set('bucket_width', '1d');
      url.searchParams.set('limit', '31');
      for (const name of groupBy) url.searchParams.append('group_by[]', name);
      return { url, headers };
    };
    const lines: BillLine[] = [];
    for await (const { starting_at, results } of readPages(request('cost_report', ['description']), costs)) {
      for (const { amount, currency, description, model } of results) {
        if (currency.toLowerCase() !== 'usd') throw new BillError(`The bill is in ${currency}, not in USD.`);
        lines.push({
          day: dayOf(starting_at),
          item: description ?? 'usage',
          model,
          amountNanoUsd: Math.round(Number(amount) * CENT_NANO_USD),
        });
      }
    }
    const usages: BilledUsage[] = [];
    for await (const { starting_at, results } of readPages(request('usage_report/messages', ['model']), usage)) {
      for (const { model, cache_creation: written, ...counts } of results) {
        if (model === null) continue;
        usages.push({
          day: dayOf(starting_at),
          model,
          tokens: {
            input: counts.uncached_input_tokens,
            cacheRead: counts.cache_read_input_tokens,
            cacheWrite: (written?.ephemeral_1h_input_tokens ?? 0) + (written?.ephemeral_5m_input_tokens ?? 0),
            output: counts.output_tokens,
          },
          requests: null,
        });
      }
    }
    return { lines, usage: usages };
  },
});
