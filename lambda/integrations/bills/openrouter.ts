import * as z from 'zod/mini';
import type { BillLine } from '../../domain/reconciliation/bill.ts';
import type { BillSource } from './bill-source.ts';
import { readJson } from './read-json.ts';

const activity = z.object({
  data: z.array(
    z.object({
      /** `2025-08-24`; the older form has a time behind it. */
      date: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}/)),
      model: z.string(),
      provider_name: z._default(z.nullable(z.string()), null),
      /** USD of credits. */
      usage: z.number(),
      /** USD that the client's own keys are billed by other providers, in addition to the fee in `usage`. */
      byok_usage_inference: z._default(z.number(), 0),
    }),
  ),
});

/**
 * OpenRouter's activity of the last 30 complete days, which a management key may see. Its token counts do not separate cached ones,
 * so they are not compared: OpenRouter reports the charge of each request, which the ledger takes as it is, with what own keys are billed.
 * @see https://openrouter.ai/docs/api-reference/analytics/get-activity
 */
export const openrouterBill = (origin: string): BillSource => ({
  credential: 'a management key',
  maxDays: 30,
  read: async (credential, { from, to }) => {
    const url = new URL('/api/v1/activity', origin);
    const { data } = await readJson({ url, headers: { authorization: `Bearer ${credential}` } }, activity);
    const lines = data
      .flatMap(({ date, model, provider_name, usage, byok_usage_inference: ownKeys }): BillLine[] => {
        const item = provider_name === null ? model : `${model} at ${provider_name}`;
        const line = { day: date.slice(0, 10), item, model, amountNanoUsd: Math.round(usage * 1e9) };
        return ownKeys > 0
          ? [line, { ...line, item: `${item}, own key`, amountNanoUsd: Math.round(ownKeys * 1e9) }]
          : [line];
      })
      .filter(({ day }) => day >= from && day <= to);
    return { lines, usage: [] };
  },
});
