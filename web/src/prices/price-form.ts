import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { termsSchema } from '../../../lambda/domain/own-prices/own-price.ts';
import type { NewPrice, OwnPrice } from '../api/responses.ts';
import { utcDate } from '../format/time.ts';
import type { BodyOf } from '../forms/changes.ts';
import { required, violationsIn } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeValuesOf } from '../scope/scope.ts';

type Kind = OwnPrice['terms']['kind'];
type Amount = number | string;

/** Values of the form: the members of all kinds of terms have the API's names. Numbers are text while they are typed. */
export interface PriceValues extends ScopeValues {
  readonly name: string;
  readonly kind: Kind;
  readonly bySubscription: boolean;
  /** First and last UTC day. */
  readonly from: string;
  readonly lastDay: string;
  readonly by: 'tokens' | 'request';
  /** For a million tokens: of the kinds that most models have, and of those that are stored. */
  readonly usdPerMillionTokens: Readonly<Record<string, Amount>>;
  /** For other units: of those that are stored. */
  readonly usdPerUnit: Readonly<Record<string, Amount>>;
  readonly usdPerRequest: Amount;
  readonly percent: Amount;
  readonly usd: Amount;
  readonly per: 'hour' | 'day' | 'month';
  readonly includedUsd: Amount;
  readonly usdPerMonth: Amount;
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
  usdPerMillionTokens: { input: '', cacheRead: '', cacheWrite: '', output: '' },
  usdPerUnit: {},
  usdPerRequest: '',
  percent: '',
  usd: '',
  per: 'month',
  includedUsd: '',
  usdPerMonth: '',
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
    usdPerMillionTokens: { ...emptyPrice.usdPerMillionTokens, ...rates?.usdPerMillionTokens },
  };
};

/** A number that is typed. A missing number is absent from the body, and the API's schema says so. */
const numberOf = (amount: Amount) => (amount === '' ? undefined : Number(amount)) as number;

/** The rates that are given; undefined where none is. */
const given = (rates: Readonly<Record<string, Amount>>) => {
  const typed = Object.entries(rates).filter(([, rate]) => rate !== '');
  return typed.length === 0 ? undefined : Object.fromEntries(typed.map(([kind, rate]) => [kind, Number(rate)]));
};

const termsOf = (values: PriceValues): BodyOf<NewPrice['terms']> => {
  const { kind, per, measure, tiers } = values;
  const usd = numberOf(values.usd);
  switch (kind) {
    case 'rates':
      return values.by === 'request'
        ? { kind, usdPerRequest: numberOf(values.usdPerRequest) }
        : { kind, usdPerMillionTokens: given(values.usdPerMillionTokens), usdPerUnit: given(values.usdPerUnit) };
    case 'subscription':
      return { kind, usdPerMonth: numberOf(values.usdPerMonth) };
    case 'discount':
    case 'markup':
      return { kind, percent: numberOf(values.percent) };
    case 'credit':
      return { kind, usd };
    case 'commitment':
      return { kind, usd, per, includedUsd: numberOf(values.includedUsd) };
    case 'volume':
      return {
        kind,
        measure,
        tiers: tiers.map(({ from, percent }) => ({ from: numberOf(from), percent: numberOf(percent) })),
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

/** A problem of all tiers is shown at the last, and one of all rates at the first. */
const termsProblems = (values: PriceValues): Record<string, string> => {
  const places: Readonly<Record<string, string>> = {
    '': values.by === 'request' ? 'usdPerRequest' : 'usdPerMillionTokens.input',
    tiers: `tiers.${values.tiers.length - 1}.from`,
  };
  return Object.fromEntries(
    violationsIn(termsSchema, termsOf(values)).map(({ path, message }) => [
      places[path] ?? path,
      path === '' ? 'At least one rate.' : message,
    ]),
  );
};

/** Problems of the values, by member of the form. */
export const priceProblems = (values: PriceValues): Record<string, string | null> => {
  const { name, from, lastDay } = values;
  return {
    name: required('A name')(name),
    from: from === '' ? 'A day.' : null,
    lastDay:
      lastDay === ''
        ? values.kind === 'credit'
          ? 'A credit expires: its last day.'
          : null
        : lastDay < from
          ? 'Not before the first day.'
          : null,
    ...termsProblems(values),
  };
};
