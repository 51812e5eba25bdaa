import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { required } from '../account/fields.ts';
import type { NewPrice, OwnPrice } from '../api/responses.ts';
import { utcDate } from '../format/time.ts';

type Kind = OwnPrice['terms']['kind'];
type Amount = number | string;

/** The kinds of tokens that the form has fields for. Rates of others, set through the API, stay. */
export const tokenRateKinds = ['input', 'cacheRead', 'cacheWrite', 'output'] as const;

/** What the form holds. Numbers are text while they are typed. */
export interface PriceValues {
  readonly name: string;
  readonly kind: Kind;
  readonly provider: string;
  readonly model: string;
  readonly key: string;
  readonly project: string;
  readonly serviceTier: string;
  readonly bySubscription: boolean;
  /** First and last UTC day. */
  readonly from: string;
  readonly lastDay: string;
  readonly by: 'tokens' | 'request';
  readonly rates: Readonly<Record<(typeof tokenRateKinds)[number], Amount>>;
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
  provider: '',
  model: '',
  key: '',
  project: '',
  serviceTier: '',
  bySubscription: false,
  from: '',
  lastDay: '',
  by: 'tokens',
  rates: { input: '', cacheRead: '', cacheWrite: '', output: '' },
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

export const valuesOf = (price: OwnPrice): PriceValues => {
  const { name, terms, provider = '', model = '', key = '', project = '', serviceTier = '', from, until } = price;
  const { kind, ...rest } = terms;
  const tokens = terms.kind === 'rates' ? terms.usdPerMillionTokens : undefined;
  const perRequest = terms.kind === 'rates' ? terms.usdPerRequest : undefined;
  return {
    ...emptyPrice,
    ...rest,
    name,
    kind,
    provider,
    model,
    key,
    project,
    serviceTier,
    bySubscription: price.credential === 'subscription',
    from: from.slice(0, 10),
    lastDay: lastDayOf(until),
    by: perRequest === undefined ? 'tokens' : 'request',
    rates: { ...emptyPrice.rates, ...tokens },
    perRequest: perRequest ?? '',
  };
};

const ratesOf = ({ by, rates, perRequest }: PriceValues, before: OwnPrice['terms'] | undefined): NewPrice['terms'] => {
  if (by === 'request') return { kind: 'rates', usdPerRequest: Number(perRequest) };
  const kept = before?.kind === 'rates' ? before : undefined;
  const typed = tokenRateKinds.filter((kind) => rates[kind] !== '').map((kind) => [kind, Number(rates[kind])]);
  const others = Object.entries(kept?.usdPerMillionTokens ?? {}).filter(
    ([kind]) => !(tokenRateKinds as readonly string[]).includes(kind),
  );
  return {
    kind: 'rates',
    usdPerMillionTokens: Object.fromEntries([...others, ...typed]),
    ...(kept?.usdPerUnit && { usdPerUnit: kept.usdPerUnit }),
  };
};

const termsOf = (values: PriceValues, before?: OwnPrice['terms']): NewPrice['terms'] => {
  const { kind, percent, usd, per, includedUsd, measure, tiers } = values;
  switch (kind) {
    case 'rates':
      return ratesOf(values, before);
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

const dayAfter = (day: string): string => utcDate(new Date(Date.parse(day) + 86_400_000));

const scopeOf = ({ provider, model, key, project, serviceTier, bySubscription }: PriceValues) => ({
  provider: (provider || undefined) as ProviderLabel | undefined,
  model: model.trim().toLowerCase() || undefined,
  key: key || undefined,
  project: project || undefined,
  serviceTier: serviceTier.trim() || undefined,
  credential: bySubscription ? ('subscription' as const) : undefined,
});

/** A new price as the API takes it. */
export const bodyOf = (values: PriceValues): NewPrice => ({
  name: values.name.trim(),
  ...scopeOf(values),
  from: values.from,
  until: values.lastDay === '' ? null : dayAfter(values.lastDay),
  terms: termsOf(values),
});

/** A change of a price. Null removes a member of the scope. A day that was not changed keeps its time. */
export const patchOf = (values: PriceValues, before: OwnPrice) => {
  const { from, until, ...body } = bodyOf(values);
  const removed = Object.entries(scopeOf(values)).map(([name, value]) => [name, value ?? null]);
  return {
    ...body,
    ...(Object.fromEntries(removed) as {
      [M in keyof ReturnType<typeof scopeOf>]: ReturnType<typeof scopeOf>[M] | null;
    }),
    terms: termsOf(values, before.terms),
    ...(values.from !== before.from.slice(0, 10) && { from }),
    ...(values.lastDay !== lastDayOf(before.until) && { until }),
  };
};

const amount = (value: Amount, most = 1_000_000) =>
  value !== '' && Number(value) >= 0 && Number(value) <= most ? null : `From 0 to ${most.toLocaleString()}.`;

const termsProblems = (values: PriceValues): Record<string, string | null> => {
  const { kind, by, rates, perRequest, percent, usd, includedUsd, tiers } = values;
  switch (kind) {
    case 'rates':
      return by === 'request'
        ? { perRequest: amount(perRequest) }
        : { 'rates.input': tokenRateKinds.every((each) => rates[each] === '') ? 'At least one rate.' : null };
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
            index > 0 && Number(tier.from) <= Number(tiers[index - 1]?.from) ? 'More than the tier before.' : null,
          ],
        ]),
      );
    case 'subscription':
      return {};
  }
};

/** What is wrong with the values, by member of the form. */
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
