import * as z from 'zod/mini';
import { hostLabel } from '../host-label.ts';
import { tokenKinds } from '../price/rates.ts';
import { unitNames } from '../usage/usage.ts';

const MAX_USD = 1_000_000;
const PERCENT_DIGITS = 4;
const MAX_TIERS = 20;

const usd = z.number().check(z.minimum(0), z.maximum(MAX_USD));
const fewDigits = z.refine<number>(
  (percent) => Number(percent.toFixed(PERCENT_DIGITS)) === percent,
  `must have at most ${PERCENT_DIGITS} decimals`,
);
const discountPercent = z.number().check(z.minimum(0), z.maximum(100), fewDigits);

const rates = z
  .strictObject({
    kind: z.literal('rates'),
    usdPerMillionTokens: z.optional(z.partialRecord(z.enum(tokenKinds), usd)),
    usdPerUnit: z.optional(z.partialRecord(z.enum(unitNames), usd)),
    usdPerRequest: z.optional(
      usd.check(z.describe('A flat amount for each request that the provider accepted, whatever it used.')),
    ),
  })
  .check(
    z.refine(
      ({ usdPerMillionTokens, usdPerUnit, usdPerRequest }) =>
        (usdPerRequest === undefined) !== (usdPerMillionTokens === undefined && usdPerUnit === undefined),
      'needs either usdPerRequest, or usdPerMillionTokens or usdPerUnit',
    ),
    z.describe('Rates of your own, in the place of the list price: also for models that nobody lists.'),
  );

const discount = z.strictObject({ kind: z.literal('discount'), percent: discountPercent });
const markup = z.strictObject({
  kind: z.literal('markup'),
  percent: z
    .number()
    .check(z.minimum(0), z.maximum(1_000), fewDigits, z.describe('Added to the cost, to charge it to others.')),
});
const subscription = z
  .strictObject({
    kind: z.literal('subscription'),
    usdPerMonth: z.optional(
      usd.check(z.describe('What it costs for 30 days. It is in no cost: GET /savings compares it with what is used.')),
    ),
  })
  .check(z.describe('A subscription covers the requests: they cost $0, and show their list price.'));

const volume = z
  .strictObject({
    kind: z.literal('volume'),
    measure: z.enum(['usd', 'tokens']).check(z.describe("The month's volume at base price, or its tokens.")),
    tiers: z
      .array(z.strictObject({ from: z.number().check(z.minimum(0), z.maximum(1e15)), percent: discountPercent }))
      .check(
        z.minLength(1),
        z.maxLength(MAX_TIERS),
        z.refine(
          (tiers) => tiers.every(({ from }, index) => index === 0 || from > (tiers[index - 1]?.from ?? 0)),
          'must ascend by from',
        ),
      ),
  })
  .check(
    z.describe(
      'A discount on the part of the month’s volume from each tier on. All requests of the month share it in proportion.',
    ),
  );

const commitment = z
  .strictObject({
    kind: z.literal('commitment'),
    usd: usd.check(z.describe('The flat amount, whatever is used.')),
    per: z.enum(['hour', 'day', 'month']),
    includedUsd: z.optional(
      usd.check(
        z.describe('The usage at base price that it pays for; more is charged at base price. Absent: all usage.'),
      ),
    ),
  })
  .check(
    z.describe(
      'Committed use, or provisioned throughput: a flat amount. The requests of a month share it by their base price.',
    ),
  );

const credit = z
  .strictObject({ kind: z.literal('credit'), usd })
  .check(z.describe('Pays for requests until it is used up, or expires with `until`.'));

export const termsSchema = z
  .discriminatedUnion('kind', [rates, subscription, commitment, discount, volume, credit, markup])
  .register(z.globalRegistry, { id: 'PriceTerms' });
export type Terms = z.infer<typeof termsSchema>;
export type PriceKind = Terms['kind'];

/** Kinds whose effect on one request depends on all requests of its month. */
export const monthKinds = ['commitment', 'volume', 'credit'] as const satisfies readonly PriceKind[];
export type MonthKind = (typeof monthKinds)[number];
export const isMonthKind = (kind: PriceKind): kind is MonthKind => (monthKinds as readonly string[]).includes(kind);

const text = z.string().check(z.minLength(1), z.maxLength(256));

/** Which requests a price is for. An absent member matches all. */
export const scopeShape = {
  provider: z.optional(hostLabel),
  model: z.optional(
    text.check(z.toLowerCase(), z.describe('The billed model, in lower case; a trailing `*` matches any ending.')),
  ),
  key: z.optional(text.check(z.describe('Id of a service key.'))),
  project: z.optional(text.check(z.describe('Id of a project: its keys when the request is priced.'))),
  serviceTier: z.optional(text.check(z.describe('As the response names it (`flex`, `priority` …), or `batch`.'))),
  credential: z.optional(
    z
      .literal('subscription')
      .check(z.describe('Requests with a token of a subscription: Claude Pro and Max, ChatGPT plans.')),
  ),
};

/** Members that a later version added stay, whoever writes the prices next. */
const stored = <S extends z.core.$ZodShape>(shape: S) => z.looseObject(shape) as unknown as z.ZodMiniObject<S>;

/** With members of a later version a price could be for fewer requests than it seems. */
const storedPrice = z.strictObject({
  priceId: z.string(),
  name: z.string(),
  ...scopeShape,
  /** ISO 8601 UTC; `until` is the first instant without it, null for no end. */
  from: z.iso.datetime(),
  until: z.nullable(z.iso.datetime()),
  terms: termsSchema,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export type OwnPrice = z.infer<typeof storedPrice>;

const storedFactor = stored({
  numerator: z.string(),
  denominator: z.string(),
  /** A commitment's amount of the month, what a credit paid, or the volume. Integers as text. */
  sum: z.string(),
  /** False for a commitment that no request of the month has a share of: its amount is in no cost. */
  isShared: z._default(z.boolean(), true),
});

const storedMonth = stored({
  /** By price id. */
  factors: z.record(z.string(), storedFactor),
  /** The requests that began before this instant are in the sums. */
  asOf: z.iso.datetime(),
  isFinal: z.boolean(),
  /** Sums of the month's counters before its requests were added up: where they differ, a late event changed the month. */
  counted: z.string(),
});
export type MonthPrices = z.infer<typeof storedMonth>;

const storedJob = stored({
  /** Months to do, ascending. */
  months: z.array(z.string()),
  /** Months of which only the factors are computed, for requests to come. */
  factorsOnly: z.array(z.string()),
  phase: z.enum(['sum', 'price']),
  /** Walks back through the month: what began at or after it is done. Null at the month's start. */
  doneFrom: z.nullable(z.iso.datetime()),
  /** Sums of base prices and tokens, by the prices that match together: see month-factors.ts. */
  sums: z.record(z.string(), z.tuple([z.string(), z.string()])),
  /** The requests that were added up. */
  requests: z._default(z.int(), 0),
  counted: z.string(),
  /** When the sums of the month began. */
  asOf: z.nullable(z.iso.datetime()),
  /** Not before this instant: recorders know a change of prices after a minute. */
  startsAt: z.iso.datetime(),
  changed: z.int(),
  differenceNanoUsd: z.int(),
  failed: z.int(),
});
export type PriceJob = z.infer<typeof storedJob>;

/** Everything about an account's own prices, as it is stored. */
const readablePrices = stored({
  prices: z.array(storedPrice),
  months: z._default(z.record(z.string(), storedMonth), {}),
  job: z._default(z.nullable(storedJob), null),
  /** Changes of the last finished job. */
  lastJob: z._default(
    z.nullable(z.object({ at: z.iso.datetime(), changed: z.int(), differenceNanoUsd: z.int(), failed: z.int() })),
    null,
  ),
  /** When the months were last looked at for late events. */
  checkedAt: z._default(z.nullable(z.iso.datetime()), null),
  currency: z._default(
    z.nullable(
      stored({
        code: z.string(),
        rates: z.array(z.object({ from: z.iso.date(), perUsd: z.string() })),
      }),
    ),
    null,
  ),
});
export type OwnPrices = z.infer<typeof readablePrices> & {
  /** Prices that a later version wrote, and this one cannot read: they apply to nothing. */
  readonly unreadable?: readonly unknown[];
};

export const parsePrices = (json: string): OwnPrices => {
  const { prices, ...others } = JSON.parse(json) as { prices: unknown[] };
  const unreadable = prices.filter((price) => !storedPrice.safeParse(price).success);
  return {
    ...readablePrices.parse({ ...others, prices: prices.filter((price) => !unreadable.includes(price)) }),
    ...(unreadable.length > 0 && { unreadable }),
  };
};

export const printPrices = ({ unreadable = [], ...own }: OwnPrices): string => {
  const readable = readablePrices.parse(own);
  return JSON.stringify({ ...readable, prices: [...readable.prices, ...unreadable] });
};

export const noPrices: OwnPrices = readablePrices.parse({ prices: [] });

/** True where a price holds at some instant of a range. */
export const holdsBetween = ({ from, until }: Pick<OwnPrice, 'from' | 'until'>, start: string, end: string): boolean =>
  Date.parse(from) < Date.parse(end) && (until === null || Date.parse(until) > Date.parse(start));
