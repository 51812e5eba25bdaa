import * as z from 'zod/mini';
import { feedSources } from '../../domain/price/feed/feed-sources.ts';
import { waitingReasons } from '../../domain/price/feed/next-lists.ts';
import { inGroup, ok } from '../../http/operation.ts';

const operation = inGroup('Spend');

const rates = z.nullable(z.record(z.string(), z.number()));
const count = z.int().check(z.nonnegative());
const difference = {
  requests: count.check(z.describe('Requests whose cost changed.')),
  unknownBefore: count.check(z.describe('The part whose cost was not known.')),
  unknownAfter: count,
  nanoUsdBefore: count.check(z.describe('Sum of the costs that were known before, in 1e-9 USD.')),
  nanoUsdAfter: count,
};

export const listPriceChanges = operation('listPriceChanges', 'GET /price-changes', {
  summary: 'List what changed prices did to recorded costs',
  description:
    'Prices come from a feed. A new version of it may price models that had no price, and may have prices that hold since an earlier time. Requests of the last 35 days are then priced again, which this lists: newest version first, for 400 days. Without changes the list is empty.',
  permission: 'spend:read-all',
  success: ok('The newest 100 versions that changed costs of the account.', {
    feed: z.object({
      version: count.check(z.describe('The newest version; 0 before the first: the prices in the code hold.')),
      checkedAt: z
        .nullable(z.iso.datetime())
        .check(z.describe('When all sources were read last. Null before the first time.')),
      waiting: z
        .array(
          z.object({
            source: z.enum(feedSources),
            provider: z.string(),
            model: z.string(),
            why: z
              .enum(waitingReasons)
              .check(
                z.describe(
                  'Half more or less (`step`), out of the range of its family, one of many at once, from one source alone, or another than that of an override.',
                ),
              ),
            before: rates.check(z.describe('The prices that hold, in USD for a million tokens. Null for none.')),
            after: rates.check(z.describe('The published prices. Null where the model was taken off the list.')),
            firstSeenAt: z.iso.datetime(),
          }),
        )
        .check(
          z.describe(
            'Changes that wait for a second source or for the operator of the gateway, newest first, at most 100. A first price from one source alone holds meanwhile, and costs are `estimated`.',
          ),
        ),
    }),
    items: z.array(
      z.object({
        version: z.int().check(z.describe('Version of the price book, as `priceVersion` of requests.')),
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
});
