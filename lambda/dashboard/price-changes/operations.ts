import * as z from 'zod/mini';
import { feedSources } from '../../domain/price/feed/feed-sources.ts';
import { waitingReasons } from '../../domain/price/feed/next-lists.ts';
import { inGroup, ok } from '../../http/operation.ts';
import { count, described } from '../../http/parameters.ts';

const operation = inGroup('Spend');

const rates = z.nullable(z.record(z.string(), z.number()));
const difference = {
  requests: described(count, 'Requests whose cost changed.'),
  unknownBefore: described(count, 'The part whose cost was not known.'),
  unknownAfter: count,
  nanoUsdBefore: described(count, 'Sum of the costs that were known before, in 1e-9 USD.'),
  nanoUsdAfter: count,
};

export const listPriceChanges = operation('listPriceChanges', 'GET /price-changes', {
  summary: 'List what changed prices did to recorded costs',
  description:
    'Prices come from a feed. A new version of it may price models that had no price, and may have prices that hold since an earlier time. Requests of the last 35 days are then priced again, which this lists: newest version first, for 400 days. Without changes the list is empty.',
  permission: 'spend:read-all',
  success: ok('The newest 100 versions that changed costs of the account.', {
    feed: z.object({
      version: described(count, 'The newest version; 0 before the first: the prices in the code hold.'),
      checkedAt: described(
        z.nullable(z.iso.datetime()),
        'When all sources were read last. Null before the first time.',
      ),
      waiting: described(
        z.array(
          z.object({
            source: z.enum(feedSources),
            provider: z.string(),
            model: z.string(),
            why: described(
              z.enum(waitingReasons),
              'Half more or less (`step`), out of the range of its family, one of many at once, from one source alone, or another than that of an override.',
            ),
            before: described(rates, 'The prices that hold, in USD for a million tokens. Null for none.'),
            after: described(rates, 'The published prices. Null where the model was taken off the list.'),
            firstSeenAt: z.iso.datetime(),
          }),
        ),
        'Changes that wait for a second source or for the operator of the gateway, newest first, at most 100. A first price from one source alone holds meanwhile, and costs are `estimated`.',
      ),
    }),
    items: z.array(
      z.object({
        version: described(z.int(), 'Version of the price book, as `priceVersion` of requests.'),
        repricedAt: z.iso.datetime(),
        firstDay: z.iso.date(),
        lastDay: z.iso.date(),
        ...difference,
        models: described(
          z.array(z.object({ provider: z.string(), model: z.nullable(z.string()), ...difference })),
          'The same by model, largest difference first.',
        ),
      }),
    ),
  }),
});
