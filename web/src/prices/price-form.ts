import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { NewPrice, OwnPrice } from '../api/responses.ts';
import { utcDate } from '../format/time.ts';
import type { BodyOf } from '../forms/changes.ts';
import { required } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeValuesOf } from '../scope/scope.ts';

type Kind = OwnPrice['terms']['kind'];
type Amount = number | string;

/** Values of the form. Numbers are text while they are typed. */
export interface PriceValues extends ScopeValues {
  readonly name: string;
  readonly kind: Kind;
  readonly bySubscription: boolean;
  /** First and last UTC day. */
  readonly from: string;
  readonly lastDay: string;
  readonly by: 'tokens' | 'request';
  /** For a million tokens: of the kinds that most models have, and of those that are stored. */
  readonly rates: Readonly<Record<string, Amount>>;
  /** For other units: of those that are stored. */
  readonly unitRates: Readonly<Record<string, Amount>>;
  readonly perRequest: Amount;
  readonly percent: Amount;
  readonly usd: Amount;
  readonly per: 'hour' | 'day' | 'month';
  readonly includedUsd: Amount;
  readonly measure: 'usd' | 'tokens';
  readonly tiers: readonly { readonly from: Amount; readonly percent: Amount }[];
}

const emptyPrice: PriceValues = {
  name: '',
  kind: 'discount',
  ...scopeValuesOf(undefined),
  bySubscription: false,
  from: '',
  lastDay: '',
  by: 'tokens',
  rates: { input: '', cacheRead: '', cacheWrite: '', output: '' },
  unitRates: {},
  perRequest: '',
  percent: '',
  usd: '',
  per: 'month',
  includedUsd: '',
  measure: 'usd',
  tiers: [{ from: 0, percent: '' }],
};

/** A new price, of a model that has none where it is named. */
export const newPrice = (model?: string, provider?: string): PriceValues => ({
  ...emptyPrice,
  from: utcDate(new Date()),
  ...(model !== undefined && {
    kind: 'rates',
    name: `Price of ${model}`.slice(0, 100),
    model,
    provider: provider ?? '',
  }),
});

const lastDayOf = (until: string | null): string => (until === null ? '' : utcDate(new Date(Date.parse(until) - 1)));

/** A stored price as the form holds it. */
export const valuesOf = (price: OwnPrice): PriceValues => {
  const { name, terms, from, until, credential } = price;
  const rates = terms.kind === 'rates' ? terms : undefined;
  return {
    ...emptyPrice,
    ...terms,
    name,
    ...scopeValuesOf(price),
    bySubscription: credential === 'subscription',
    from: from.slice(0, 10),
    lastDay: lastDayOf(until),
    by: rates?.usdPerRequest === undefined ? 'tokens' : 'request',
    rates: { ...emptyPrice.rates, ...rates?.usdPerMillionTokens },
    unitRates: rates?.usdPerUnit ?? {},
    perRequest: rates?.usdPerRequest ?? '',
  };
};

/** The rates that are given; undefined where none is. */
const given = (rates: Readonly<Record<string, Amount>>) => {
  const typed = Object.entries(rates).filter(([, rate]) => rate !== '');
  return typed.length === 0 ? undefined : Object.fromEntries(typed.map(([kind, rate]) => [kind, Number(rate)]));
};

const ratesOf = ({ by, rates, unitRates, perRequest }: PriceValues): NewPrice['terms'] => {
  if (by === 'request') return { kind: 'rates', usdPerRequest: Number(perRequest) };
  const [usdPerMillionTokens, usdPerUnit] = [given(rates), given(unitRates)];
  return { kind: 'rates', ...(usdPerMillionTokens && { usdPerMillionTokens }), ...(usdPerUnit && { usdPerUnit }) };
};

const termsOf = (values: PriceValues): NewPrice['terms'] => {
  const { kind, percent, usd, per, includedUsd, measure, tiers } = values;
  switch (kind) {
    case 'rates':
      return ratesOf(values);
    case 'subscription':
      return { kind };
    case 'discount':
    case 'markup':
      return { kind, percent: Number(percent) };
    case 'credit':
      return { kind, usd: Number(usd) };
    case 'commitment':
      return { kind, usd: Number(usd), per, ...(includedUsd !== '' && { includedUsd: Number(includedUsd) }) };
    case 'volume':
      return {
        kind,
        measure,
        tiers: tiers.map((tier) => ({ from: Number(tier.from), percent: Number(tier.percent) })),
      };
  }
};

/** Members of a price that the API replaces. */
export const WHOLE = ['terms'];

/** The first instant of a day, or of one after it. @param day `2026-11-20`; another text throws a RangeError */
const instantOf = (day: string, daysAfter = 0): string => new Date(Date.parse(day) + daysAfter * DAY_MS).toISOString();

/** Models of prices are in lower case. */
export const priceScopeOf = (values: PriceValues) => scopeOf({ ...values, model: values.model.toLowerCase() });

/** The price as the API takes it. @throws RangeError for values that priceProblems refuses */
export const bodyOf = (values: PriceValues) => {
  const { dim: _, ...scope } = priceScopeOf(values);
  return {
    name: values.name.trim(),
    ...scope,
    credential: values.bySubscription ? 'subscription' : null,
    from: instantOf(values.from),
    until: values.lastDay === '' ? null : instantOf(values.lastDay, 1),
    terms: termsOf(values),
  } satisfies BodyOf<NewPrice>;
};

const amount = (value: Amount, most = 1_000_000) =>
  value !== '' && Number(value) >= 0 && Number(value) <= most ? null : `From 0 to ${most.toLocaleString()}.`;

/** The highest volume that a tier begins with, in USD or tokens. */
const MAX_VOLUME = 1e15;

const ratesProblems = (list: 'rates' | 'unitRates', rates: Readonly<Record<string, Amount>>) =>
  Object.fromEntries(
    Object.entries(rates).map(([kind, rate]) => [`${list}.${kind}`, rate === '' ? null : amount(rate)]),
  );

const noRate = ({ rates, unitRates }: PriceValues): Record<string, string> =>
  given({ ...rates, ...unitRates }) ? {} : { 'rates.input': 'At least one rate.' };

const termsProblems = (values: PriceValues): Record<string, string | null> => {
  const { kind, by, rates, unitRates, perRequest, percent, usd, includedUsd, tiers } = values;
  switch (kind) {
    case 'rates':
      return by === 'request'
        ? { perRequest: amount(perRequest) }
        : { ...ratesProblems('rates', rates), ...ratesProblems('unitRates', unitRates), ...noRate(values) };
    case 'discount':
      return { percent: amount(percent, 100) };
    case 'markup':
      return { percent: amount(percent, 1_000) };
    case 'credit':
      return { usd: amount(usd), lastDay: values.lastDay === '' ? 'A credit expires: its last day.' : null };
    case 'commitment':
      return { usd: amount(usd), includedUsd: includedUsd === '' ? null : amount(includedUsd) };
    case 'volume':
      return Object.fromEntries(
        tiers.flatMap((tier, index) => [
          [`tiers.${index}.percent`, amount(tier.percent, 100)],
          [
            `tiers.${index}.from`,
            index > 0 && Number(tier.from) <= Number(tiers[index - 1]?.from)
              ? 'More than the tier before.'
              : amount(tier.from, MAX_VOLUME),
          ],
        ]),
      );
    case 'subscription':
      return {};
  }
};

/** Problems of the values, by member of the form. */
export const priceProblems = (values: PriceValues): Record<string, string | null> => {
  const { name, from, lastDay } = values;
  const problems = {
    name: required('A name')(name),
    from: from === '' ? 'A day.' : null,
    lastDay: lastDay !== '' && lastDay < from ? 'Not before the first day.' : null,
  };
  const ofTerms = termsProblems(values);
  return { ...problems, ...ofTerms, lastDay: problems.lastDay ?? ofTerms['lastDay'] ?? null };
};
