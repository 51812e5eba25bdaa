import { nameAt } from '../price/model-names.ts';
import { matchesModel } from '../price/overrides.ts';
import { tiersOf } from '../price/service-tiers.ts';
import type { CloseEvent } from '../usage/usage-event.ts';
import type { OwnPrice, PriceKind } from './own-price.ts';

/** Members by which own prices choose requests. */
export type MatchableRequest = Pick<
  CloseEvent,
  'provider' | 'keyId' | 'startedAt' | 'reading' | 'status' | 'credentialKind'
>;

/** The account's prices, and what they need to match a request. */
export interface PriceMatching {
  readonly prices: readonly OwnPrice[];
  /** Id of the project of each key. */
  readonly projectOf: ReadonlyMap<string, string>;
}

/** True where a pattern matches the billed model as it is written, or as price books name it. */
const matchesBilled = (pattern: string, { provider, reading }: MatchableRequest): boolean => {
  const model = (reading.modelServed ?? reading.modelRequested ?? '').toLowerCase();
  return [model, nameAt(provider, model)].some((name) => matchesModel([pattern], name));
};

const matches = (price: OwnPrice, request: MatchableRequest, projectOf: PriceMatching['projectOf']): boolean => {
  const at = Date.parse(request.startedAt);
  return (
    at >= Date.parse(price.from) &&
    (price.until === null || at < Date.parse(price.until)) &&
    (price.provider === undefined || price.provider === request.provider) &&
    (price.model === undefined || matchesBilled(price.model, request)) &&
    (price.key === undefined || price.key === request.keyId) &&
    (price.project === undefined || price.project === projectOf.get(request.keyId ?? '')) &&
    (price.serviceTier === undefined || tiersOf(request.reading).includes(price.serviceTier.toLowerCase())) &&
    (price.credential === undefined || price.credential === request.credentialKind)
  );
};

/** The more specific of two prices comes first: by key, project, model (an exact one, then the longest pattern), tier, credential, provider. */
const bySpecificity = (a: OwnPrice, b: OwnPrice): number => {
  const rank = ({ key, project, model, serviceTier, credential, provider }: OwnPrice) => [
    Number(key !== undefined),
    Number(project !== undefined),
    Number(model !== undefined && !model.endsWith('*')),
    model?.length ?? 0,
    Number(serviceTier !== undefined),
    Number(credential !== undefined),
    Number(provider !== undefined),
  ];
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, index) => value !== right[index]);
  if (at >= 0) return (right[at] ?? 0) - (left[at] ?? 0);
  if (a.from !== b.from) return Date.parse(b.from) - Date.parse(a.from);
  return a.priceId < b.priceId ? 1 : -1;
};

/** The prices that a request is charged by: of each kind the most specific; of equals the latest to begin, then to be made. */
export const matchingPrices = (
  request: MatchableRequest,
  { prices, projectOf }: PriceMatching,
): ReadonlyMap<PriceKind, OwnPrice> => {
  const found = new Map<PriceKind, OwnPrice>();
  for (const price of prices.filter((each) => matches(each, request, projectOf)).sort(bySpecificity))
    if (!found.has(price.terms.kind)) found.set(price.terms.kind, price);
  // The flat amount is agreed on: no discount makes it less.
  if (found.has('commitment')) for (const kind of ['discount', 'volume'] as const) found.delete(kind);
  return found;
};
