import * as z from 'zod/mini';
import { operation } from '../../http/operation.ts';

const count = z.int().check(z.nonnegative());
const difference = {
  requests: count.check(z.describe('Requests whose cost changed.')),
  unknownBefore: count.check(z.describe('Of these, requests whose cost was not known.')),
  unknownAfter: count,
  nanoUsdBefore: count.check(z.describe('Sum of the costs that were known before, in 1e-9 USD.')),
  nanoUsdAfter: count,
};

export const listPriceChanges = operation({
  id: 'listPriceChanges',
  method: 'GET',
  path: '/price-changes',
  group: 'Spend',
  summary: 'List what changed prices did to recorded costs',
  description:
    'Prices come from a feed. A new version of it may price models that had no price, and may have prices that hold since an earlier time. Requests of the last 35 days are then priced again, which this lists: newest version first, for 400 days. Without changes the list is empty.',
  permission: 'spend:read',
  success: {
    status: 200,
    description: 'The newest 100 versions that changed costs of the account.',
    schema: z.object({
      items: z.array(
        z.object({
          version: z.int().check(z.describe('Of the price book, as `priceVersion` of requests.')),
          repricedAt: z.iso.datetime(),
          firstDay: z.iso.date(),
          lastDay: z.iso.date(),
          ...difference,
          models: z
            .array(z.object({ provider: z.string(), model: z.nullable(z.string()), ...difference }))
            .check(z.describe('The same by model, largest difference first.')),
        }),
      ),
    }),
  },
});
