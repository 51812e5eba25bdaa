import * as z from 'zod/mini';
import { scopeShape, termsSchema } from '../../domain/own-prices/own-price.ts';
import { was } from '../../http/as-read.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { count, day, dayOrInstant, described, name, unreadable } from '../../http/parameters.ts';

const nanoUsd = (description: string) => described(z.int(), `${description}, in 1e-9 USD.`);

const price = component('Price', {
  id: z.string(),
  name: z.string(),
  ...scopeShape,
  from: z.iso.datetime(),
  until: described(z.nullable(z.iso.datetime()), 'The first instant without it.'),
  terms: termsSchema,
  months: described(
    z.array(
      z.object({
        month: z.string(),
        factor: described(z.string(), 'What it multiplies the cost of a request by.'),
        sum: described(
          z.string(),
          'Amount of a commitment, payment of a credit, or volume: in 1e-9 USD, or in tokens.',
        ),
        isShared: described(z.boolean(), 'False for a commitment that no request shares: its amount is in no cost.'),
        isFinal: described(z.boolean(), 'False while the month runs: costs are provisional.'),
        asOf: z.iso.datetime(),
      }),
    ),
    'Months of a price that depends on the sums of a month, the newest first.',
  ),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

const currency = z
  .strictObject({
    code: z.string().check(z.regex(/^[A-Z]{3}$/, 'must be three capital letters (ISO 4217)')),
    rates: z
      .array(
        z.strictObject({
          from: described(day, 'The first day (UTC) of the rate.'),
          perUsd: described(
            z.string().check(
              z.regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number, such as 0.9234'),
              z.refine((text) => Number(text) > 0, 'must be above 0'),
            ),
            'What one US dollar is worth in the currency.',
          ),
        }),
      )
      .check(
        z.minLength(1),
        z.maxLength(500),
        z.refine(
          (rates) => rates.every(({ from }, index) => index === 0 || from > (rates[index - 1]?.from ?? '')),
          'must ascend by from',
        ),
      ),
  })
  .register(z.globalRegistry, { id: 'DisplayCurrency' });

const job = {
  changed: described(count, 'Requests whose cost changed.'),
  differenceNanoUsd: nanoUsd('By how much their costs changed'),
  failed: described(count, 'Requests that could not be priced again.'),
};

const from = described(dayOrInstant, 'The first day (UTC) or instant. It may be in the past.');
const until = described(
  z.nullable(dayOrInstant),
  'The first day (UTC) or instant without it; null for no end. A credit needs one: it expires then.',
);
const operation = inGroup('Prices');

export const listPrices = operation('listPrices', 'GET /prices', {
  summary: "List the account's own prices",
  permission: 'spend:read-all',
  success: ok('All prices, oldest first.', {
    items: z.array(price),
    unreadable,
    limit: described(z.int().check(z.positive()), 'How many prices an account may have.'),
    currency: described(z.nullable(currency), 'The currency to show costs in; null for US dollars.'),
    repricing: described(
      z.nullable(z.object({ months: z.array(z.string()), startsAt: z.iso.datetime(), ...job })),
      'Months whose requests are being priced again; null if none.',
    ),
    lastRepricing: z.nullable(z.object({ at: z.iso.datetime(), ...job })),
  }),
});

export const createPrice = operation('createPrice', 'POST /prices', {
  audits: ['price.created'],
  summary: 'Add a price of your own',
  description:
    'The most specific price of each kind that matches a request applies: by key, project, model, service tier, credential, then provider. Own rates, a subscription or a commitment replace the list price; then come discount, volume discount, credit and markup. Requests that are on record are priced again within minutes. See docs/prices.md.',
  permission: 'prices:write',
  body: z.strictObject({
    name: name(100),
    ...scopeShape,
    from,
    until: z._default(until, null),
    terms: termsSchema,
  }),
  success: created('The price.', price),
  errors: ['LIMIT_REACHED'],
});

export const updatePrice = operation('updatePrice', 'PATCH /prices/{id}', {
  audits: ['price.changed'],
  summary: 'Change a price of your own',
  description:
    'Send only the members to change; `terms` as a whole; null removes a member of the scope. Requests of the past are priced again. To change a price from a day on, end it there and add another.',
  permission: 'prices:write',
  body: z.strictObject({
    name: z.optional(name(100)),
    ...(Object.fromEntries(
      Object.entries(scopeShape).map(([member, schema]) => [member, z.optional(z.nullable(schema))]),
    ) as { [M in keyof typeof scopeShape]: z.ZodMiniOptional<z.ZodMiniNullable<(typeof scopeShape)[M]>> }),
    from: z.optional(from),
    until: z.optional(until),
    terms: z.optional(termsSchema),
    was,
  }),
  success: ok('The price.', price),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const deletePrice = operation('deletePrice', 'DELETE /prices/{id}', {
  audits: ['price.deleted'],
  summary: 'Delete a price of your own',
  description: 'As if it had never been: requests that it applied to are priced again. To end it, set `until`.',
  permission: 'prices:write',
  success: { status: 204, description: 'Deleted.' },
});

export const setCurrency = operation('setCurrency', 'PUT /prices/currency', {
  audits: ['currency.changed'],
  summary: 'Set the currency that costs are shown in',
  description: 'For display only: all costs are recorded in US dollars. Of each day, the last rate that began counts.',
  permission: 'prices:write',
  body: z.strictObject({ currency: described(z.nullable(currency), 'Null for US dollars.') }),
  success: ok('The currency.', { currency: z.nullable(currency) }),
});
