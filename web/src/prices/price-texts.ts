import type { OwnPrice } from '../api/responses.ts';
import { formatPercent, formatRate, plural } from '../format/numbers.ts';
import { utcDayText } from '../format/time.ts';
import { kindName } from '../providers/names.ts';
import { scopeText } from '../scope/scope.ts';
import type { KeyNames } from '../spend/groups.ts';

export const kindTexts: Readonly<Record<OwnPrice['terms']['kind'], string>> = {
  rates: 'Own rates',
  subscription: 'Covered by a subscription',
  commitment: 'Commitment',
  discount: 'Discount',
  volume: 'Volume discount',
  credit: 'Credit',
  markup: 'Markup',
};

const listed = (rates: Readonly<Record<string, number>> | undefined, unit: string): string[] =>
  Object.entries(rates ?? {}).map(([kind, usd]) => `${kindName(kind).toLowerCase()} ${formatRate(usd)}${unit}`);

/** Effect of a price: `20% off`, `input $1.20, output $4.80 per 1M tokens`. */
export const termsText = (terms: OwnPrice['terms']): string => {
  switch (terms.kind) {
    case 'rates':
      return terms.usdPerRequest === undefined
        ? [...listed(terms.usdPerMillionTokens, ' / 1M'), ...listed(terms.usdPerUnit, ' each')].join(', ')
        : `${formatRate(terms.usdPerRequest)} a request`;
    case 'subscription':
      return `requests cost $0${terms.usdPerMonth === undefined ? '' : `, ${formatRate(terms.usdPerMonth)} in 30 days`}`;
    case 'commitment': {
      const amount = `${formatRate(terms.usd)} a ${terms.per}`;
      return terms.includedUsd === undefined ? amount : `${amount}, with usage for ${formatRate(terms.includedUsd)}`;
    }
    case 'discount':
      return `${formatPercent(terms.percent)} off`;
    case 'volume':
      return terms.tiers
        .map(({ from, percent }) => {
          const start = terms.measure === 'usd' ? formatRate(from) : plural(from, 'token');
          return `${formatPercent(percent)} off from ${start}`;
        })
        .join(', ');
    case 'credit':
      return `${formatRate(terms.usd)}, until it is used up`;
    case 'markup':
      return `${formatPercent(terms.percent)} on top`;
  }
};

export const priceScopeText = (price: OwnPrice, names: KeyNames): string =>
  [scopeText(price, names), price.credential && 'with a subscription’s token'].filter(Boolean).join(', ') ||
  'All requests';

/** `since Nov 1, 2026`, `Nov 1, 2026 to Dec 31, 2026`: the last day is the one before `until`. */
export const periodText = ({ from, until }: Pick<OwnPrice, 'from' | 'until'>): string =>
  until === null
    ? `since ${utcDayText(from)}`
    : `${utcDayText(from)} to ${utcDayText(new Date(Date.parse(until) - 1).toISOString())}`;
