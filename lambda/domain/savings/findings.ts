import { DAY_MS, HOUR_MS, MINUTE_MS } from '../calendar/units.ts';
import { nanoUsdPerUnit, usdToNanoUsd } from '../money.ts';
import type { OwnPrices } from '../own-prices/own-price.ts';
import { isPriceable } from '../spend/contribution.ts';
import { listCostOf, mayCost, modelOf, type RequestRecord } from '../spend/request-record.ts';
import { countText, requestsText } from '../spend/spend-report.ts';
import { type FindingScope, findingId } from './decision.ts';
import type { Certainty, FindingKind } from './finding-kinds.ts';
import { type Pricing, whatIf } from './what-if.ts';

/** Money that could have been saved, by the month. */
export interface Finding {
  readonly id: string;
  readonly kind: FindingKind;
  readonly scope: FindingScope;
  readonly nanoUsdPerMonth: number;
  readonly certainty: Certainty;
  /** The sum in words and numbers. */
  readonly arithmetic: string;
  /** How many requests are behind it, and some of their ids, the costliest first. */
  readonly requests: number;
  readonly requestIds: readonly string[];
}

/** Less a month is no finding. */
const LEAST_NANO_USD_PER_MONTH = usdToNanoUsd(1);
const DAYS_PER_MONTH = 30;
const MAX_IDS = 10;

/** Findings are computed from these, next to requests. */
export interface Examined {
  readonly pricing: Pricing;
  readonly own: OwnPrices;
  /** Active keys, and whether the member or API token that each belongs to is gone. */
  readonly keys: readonly { readonly keyId: string; readonly name: string; readonly isOrphan: boolean }[];
  readonly from: Date;
  readonly to: Date;
  /** How amounts and days are written in sentences. */
  readonly money: (nanoUsd: number) => string;
  readonly dayOf: (at: Date) => string;
}

/** How long a cache is kept, by the kind of its writes. */
const cacheTimesMs: Readonly<Record<string, number>> = {
  cacheWrite: 5 * MINUTE_MS,
  cacheWrite1h: HOUR_MS,
  cacheWrite12h: 12 * HOUR_MS,
};
/** OpenAI's shorter time. */
const OPENAI_CACHE_MS = 30 * MINUTE_MS;

/** Shorter prompts are not cached. */
const LEAST_CACHED_TOKENS = 1024;
/** Prompts are alike where nine of ten differ by no more than this share of the usual one. */
const ALIKE = 0.2;
const LEAST_REQUESTS = 20;
const MAIN_SHARE = 0.8;
/** A key is idle if its use fell below this share of its former use. */
const IDLE_SHARE = 0.1;
const RECENT_DAYS = 7;

const timeOf = ({ startedAt }: RequestRecord): number => Date.parse(startedAt);

/** Effective cost for each part of the list price. */
const ownFactor = (record: RequestRecord): number => {
  const list = listCostOf(record);
  return list && record.costNanoUsd !== null ? record.costNanoUsd / list : 1;
};

/** The rates of a request's model, in nano-USD for each token. */
const ratesOf = (record: RequestRecord, { book }: Pricing) => {
  const found = book({
    provider: record.provider,
    model: (modelOf(record) ?? '').toLowerCase(),
    at: new Date(record.startedAt),
    inputTokens: record.usage?.inputTokens ?? 0,
  });
  const rate = (kind: 'input' | 'cacheRead' | 'cacheWrite') => {
    const rates = found?.rates[kind];
    return rates === undefined ? null : nanoUsdPerUnit(rates);
  };
  return { input: rate('input'), cacheRead: rate('cacheRead'), cacheWrite: rate('cacheWrite') };
};

const sum = <T>(items: readonly T[], nanoUsdOf: (item: T) => number | null): number =>
  items.reduce((total, item) => total + (nanoUsdOf(item) ?? 0), 0);
const costOf = ({ costNanoUsd }: RequestRecord) => costNanoUsd;

/** How sure the cost of requests is, and a sentence on those that it leaves out. */
const knownOf = <C extends Certainty>(records: readonly RequestRecord[], usual: C) => {
  const unknown = records.filter(({ costNanoUsd }) => costNanoUsd === null).length;
  return unknown === 0
    ? { certainty: usual, unknownText: '' }
    : { certainty: 'at_least' as const, unknownText: ` The cost of ${countText(unknown)} of them is unknown.` };
};

interface Waste extends Pick<Finding, 'kind' | 'scope' | 'certainty' | 'arithmetic'> {
  readonly nanoUsd: number;
  /** The days that it was wasted in, if not the whole range. */
  readonly days?: number;
  readonly records: readonly RequestRecord[];
}

const scopeOf = ({ provider, tag, ...record }: RequestRecord) => ({ provider, model: modelOf(record), tag });

/** The amount by which the writes of a request cost more than the same tokens as input. */
const premiumOf = (record: RequestRecord, pricing: Pricing) => {
  const writes = record.lines.filter(({ kind }) => kind in cacheTimesMs);
  const input = record.lines.find(({ kind }) => kind === 'input')?.rateNanoUsdPerUnit ?? ratesOf(record, pricing).input;
  if (writes.length === 0 || input === null) return null;
  const tokens = sum(writes, ({ quantity }) => quantity);
  const premium = sum(writes, (line) => line.quantity * (line.rateNanoUsdPerUnit - input));
  const times = writes.map(({ kind }) =>
    record.provider === 'openai' ? OPENAI_CACHE_MS : (cacheTimesMs[kind] as number),
  );
  return { tokens, premium: premium * ownFactor(record), keptMs: Math.max(...times) };
};

/** @param records of one provider, model and tag, oldest first */
const unreadCacheWrites = (records: readonly RequestRecord[], { pricing, money }: Examined): Waste[] => {
  const unread: (NonNullable<ReturnType<typeof premiumOf>> & { readonly record: RequestRecord })[] = [];
  /** When each credential read the cache next. */
  const nextRead = new Map<string | null, number>();
  for (const record of records.toReversed()) {
    const written = premiumOf(record, pricing);
    const at = timeOf(record);
    const read = nextRead.get(record.providerKey) ?? Number.POSITIVE_INFINITY;
    if (written && written.premium > 0 && read > at + written.keptMs) unread.push({ record, ...written });
    if ((record.usage?.cacheReadTokens ?? 0) > 0) nextRead.set(record.providerKey, at);
  }
  const tokens = sum(unread, (each) => each.tokens);
  const nanoUsd = sum(unread, ({ premium }) => premium);
  const [first] = unread;
  if (!first) return [];
  return [
    {
      kind: 'unread_cache_writes',
      scope: scopeOf(first.record),
      nanoUsd,
      certainty: 'exact',
      arithmetic: `${countText(tokens)} tokens were written to the cache and not read within its time. They cost ${money(nanoUsd)} more than as plain input.`,
      records: unread.map(({ record }) => record),
    },
  ];
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(share * (sorted.length - 1))] as number;

/** @param records of one provider, model and tag, oldest first */
const uncachedPrompts = (records: readonly RequestRecord[], { pricing, money }: Examined): Waste[] => {
  const used = records.filter(({ usage, costNanoUsd }) => usage !== null && (costNanoUsd ?? 0) > 0);
  const [first] = used;
  if (!first || used.length < LEAST_REQUESTS) return [];
  if (used.some(({ usage }) => (usage?.cacheReadTokens ?? 0) + (usage?.cacheWriteTokens ?? 0) > 0)) return [];
  const sizes = used.map(({ usage }) => usage?.inputTokens ?? 0).sort((a, b) => a - b);
  const [small, usual, large] = [quantile(sizes, 0.1), quantile(sizes, 0.5), quantile(sizes, 0.9)];
  if (small < LEAST_CACHED_TOKENS || large - small > ALIKE * usual) return [];
  const { input, cacheRead, cacheWrite } = ratesOf(first, pricing);
  if (input === null || cacheRead === null || cacheRead >= input) return [];
  const keptMs = first.provider === 'openai' ? OPENAI_CACHE_MS : (cacheTimesMs['cacheWrite'] as number);
  let writes = 0;
  let nanoUsd = 0;
  let cost = 0;
  let before = Number.NEGATIVE_INFINITY;
  for (const record of used) {
    const factor = ownFactor(record);
    if (timeOf(record) - before > keptMs) {
      writes++;
      cost += small * ((cacheWrite ?? input) - input) * factor;
    } else nanoUsd += small * (input - cacheRead) * factor;
    before = timeOf(record);
  }
  return [
    {
      kind: 'uncached_prompts',
      scope: scopeOf(first),
      nanoUsd: nanoUsd - cost,
      certainty: 'at_most',
      arithmetic: `${countText(used.length)} prompts of about ${countText(usual)} tokens, never cached. If their first ${countText(small)} tokens are the same: ${countText(writes)} writes cost ${money(cost)} more, ${countText(used.length - writes)} reads save ${money(nanoUsd)}.`,
      records: used,
    },
  ];
};

/** @param records of one provider, model and tag */
const interruptedResponses = (records: readonly RequestRecord[], { money }: Examined): Waste[] => {
  const lost = records.filter(
    (record) =>
      record.costNanoUsd !== 0 &&
      mayCost(record) &&
      (record.outcome === 'client_aborted' ||
        record.outcome === 'upstream_aborted' ||
        (record.status !== null && record.status >= 400)),
  );
  const [first] = lost;
  if (!first) return [];
  const nanoUsd = sum(lost, costOf);
  const by = (outcome: string) => lost.filter((record) => record.outcome === outcome).length;
  const isEstimated = lost.some(({ provenance }) => provenance === 'estimated');
  const { certainty, unknownText } = knownOf(lost, isEstimated ? 'estimated' : 'exact');
  return [
    {
      kind: 'interrupted_responses',
      scope: scopeOf(first),
      nanoUsd,
      certainty,
      arithmetic: `${money(nanoUsd)} for ${countText(lost.length)} responses that nobody got whole: ${countText(by('client_aborted'))} whose client disconnected, ${countText(by('upstream_aborted'))} interrupted by the provider, ${countText(lost.length - by('client_aborted') - by('upstream_aborted'))} failed.${unknownText}`,
      records: lost,
    },
  ];
};

/** @param records of one tag */
const dearRemainder = (records: readonly RequestRecord[], { pricing, to, money }: Examined): Waste[] => {
  const used = records.filter(({ costNanoUsd }) => (costNanoUsd ?? 0) > 0);
  const [first] = used;
  if (!first || first.tag === null || used.length < LEAST_REQUESTS) return [];
  const nameOf = (record: RequestRecord) => JSON.stringify([record.provider, modelOf(record)]);
  const byModel = [...Map.groupBy(used, nameOf)];
  const [name, main] = byModel.reduce((a, b) => (b[1].length > a[1].length ? b : a));
  const rest = used.filter((record) => nameOf(record) !== name);
  if (main.length < MAIN_SHARE * used.length || rest.length === 0) return [];
  const [provider, model] = JSON.parse(name) as [RequestRecord['provider'], string | null];
  if (model === null) return [];
  const result = whatIf(rest, { provider, model }, pricing, to);
  if (result.differenceNanoUsd >= 0) return [];
  return [
    {
      kind: 'dear_remainder',
      scope: { tag: first.tag },
      nanoUsd: -result.differenceNanoUsd,
      certainty: 'if_equal',
      arithmetic: `${countText(main.length)} of ${requestsText(used.length)} use ${model}. The other ${countText(result.requests)} cost ${money(result.oldNanoUsd)}; with ${model} the same tokens cost ${money(result.newNanoUsd)}.`,
      records: rest,
    },
  ];
};

/** @param records of one key */
const idleKeys = (records: readonly RequestRecord[], { keys, to, money }: Examined, days: number): Waste[] => {
  const key = keys.find(({ keyId }) => keyId === records[0]?.keyId);
  const recentDays = Math.min(days, RECENT_DAYS);
  const recent = records.filter((record) => timeOf(record) >= to.getTime() - recentDays * DAY_MS);
  const before = records.length - recent.length;
  if (!key || recent.length === 0) return [];
  const daysBefore = days - recentDays;
  const isFewer = recent.length / recentDays < (IDLE_SHARE * before) / daysBefore;
  const isIdle = before >= LEAST_REQUESTS && daysBefore >= RECENT_DAYS && isFewer;
  if (!key.isOrphan && !isIdle) return [];
  const nanoUsd = sum(recent, costOf);
  const why = key.isOrphan
    ? `Nobody has “${key.name}” any more: its member or API token is gone.`
    : `“${key.name}” made ${requestsText(before)} in ${Math.round(daysBefore)} days until ${recentDays} days ago.`;
  const { certainty, unknownText } = knownOf(recent, 'at_most');
  const arithmetic = `${why} In the last ${Math.round(recentDays)} days it made ${requestsText(recent.length)} for ${money(nanoUsd)}.${unknownText}`;
  const scope = { key: key.keyId };
  return [{ kind: 'idle_key', scope, nanoUsd, certainty, days: recentDays, arithmetic, records: recent }];
};

/**
 * Amounts that a limit reserved for requests that did not need it, while it refused others: with less reserved they had passed. Limits of each are
 * not looked at, since a refused request does not say whose amount was used up.
 *
 * @param records oldest first, with those that were refused
 */
const unneededReservations = (records: readonly RequestRecord[], { money }: Examined): Waste[] => {
  const refusals = Map.groupBy(
    records.filter(({ outcome, blockedBy }) => outcome === 'refused' && blockedBy !== null),
    ({ blockedBy }) => blockedBy as string,
  );
  return [...refusals].flatMap(([limit, refused]): Waste[] => {
    let next = 0;
    const held = records.flatMap((record) => {
      const reserved = record.reservations?.find(({ budgetId }) => budgetId === limit)?.nanoUsd ?? 0;
      const start = timeOf(record);
      while (next < refused.length && timeOf(refused[next] as RequestRecord) < start) next++;
      const refusal = refused[next];
      const isMore = record.costNanoUsd !== null && reserved > record.costNanoUsd;
      const isInTheWay = refusal !== undefined && timeOf(refusal) <= start + (record.totalMs ?? 0);
      return isMore && isInTheWay ? [{ record, reserved }] : [];
    });
    const [behind, reserved] = [held.map(({ record }) => record), sum(held, (each) => each.reserved)];
    const arithmetic = `A limit refused ${requestsText(refused.length)} while ${money(reserved)} was reserved for ${countText(behind.length)} that cost ${money(sum(behind, costOf))}. The rest was not needed; it was not spent either.`;
    const nanoUsd = reserved - sum(behind, costOf);
    return [
      { kind: 'unneeded_reservations', scope: { limit }, nanoUsd, certainty: 'exact', arithmetic, records: behind },
    ];
  });
};

/** Amounts that were paid for and not used: of commitments in the newest month that is closed, of subscriptions in the range. */
const unusedPrices = (records: readonly RequestRecord[], { own, from, to, money, dayOf }: Examined): Waste[] => {
  const months = Object.entries(own.months).sort(([a], [b]) => (a < b ? 1 : -1));
  const closed = months.find(([, { isFinal }]) => isFinal);
  return own.prices.flatMap((price): Waste[] => {
    const { terms, priceId, name } = price;
    const scope = { provider: price.provider, model: price.model, price: priceId };
    const [start, end] = [Date.parse(price.from), Date.parse(price.until ?? '9999-01-01')];
    const made = { scope, certainty: 'exact' as const, days: DAYS_PER_MONTH, records: [] };
    const factor = closed?.[1].factors[priceId];
    if (terms.kind === 'commitment' && closed && factor) {
      const amount = Number(factor.sum);
      const used = factor.isShared ? Number(factor.denominator) : 0;
      const included = terms.includedUsd === undefined ? amount : (amount * terms.includedUsd) / (terms.usd || 1);
      const nanoUsd = included <= used ? 0 : (amount * (included - used)) / included;
      const arithmetic = `“${name}” cost ${money(amount)} in ${closed[0]} and pays for ${money(included)} at base price. ${money(used)} was used.`;
      return [{ ...made, kind: 'unused_commitment', nanoUsd, arithmetic }];
    }
    if (terms.kind === 'subscription' && terms.usdPerMonth !== undefined && end > to.getTime()) {
      const days = (to.getTime() - Math.max(from.getTime(), start)) / DAY_MS;
      const covered = records.filter((record) => record.ownPrices?.steps.some((step) => step.priceId === priceId));
      const [paid, list] = [(usdToNanoUsd(terms.usdPerMonth) * days) / DAYS_PER_MONTH, sum(covered, listCostOf)];
      const isKnown = covered.every((record) => listCostOf(record) !== null);
      const arithmetic = `“${name}” cost ${money(paid)} in ${Math.round(days)} days. The ${requestsText(covered.length)} that it covered cost ${money(list)} at list price.`;
      const found = { ...made, days, records: covered, certainty: isKnown ? made.certainty : ('at_most' as const) };
      return days < RECENT_DAYS ? [] : [{ ...found, kind: 'unused_subscription', nanoUsd: paid - list, arithmetic }];
    }
    if (terms.kind !== 'credit' || Math.abs(end - to.getTime()) > DAYS_PER_MONTH * DAY_MS) return [];
    const left = usdToNanoUsd(terms.usd) - sum(months, ([, { factors }]) => Number(factors[priceId]?.sum ?? 0));
    if (end <= to.getTime()) {
      const arithmetic = `“${name}” ended with ${money(left)} of ${money(usdToNanoUsd(terms.usd))} unused.`;
      return [{ ...made, kind: 'expired_credit', nanoUsd: left, arithmetic }];
    }
    const [month, current] = months[0] ?? [];
    const asOf = current ? Date.parse(current.asOf) : to.getTime();
    const paid = Number(current?.factors[priceId]?.sum ?? 0);
    const rate = paid / Math.max(DAY_MS, asOf - Math.max(Date.parse(month ?? price.from), start));
    const used = Math.round(rate * Math.max(0, end - asOf));
    const arithmetic = `“${name}” ends on ${dayOf(new Date(end))} and has ${money(left)} left. As use goes on as in this month, ${money(used)} of it is used until then.`;
    return [{ ...made, kind: 'expiring_credit', certainty: 'if_continued', nanoUsd: left - used, arithmetic }];
  });
};

/**
 * Where money is wasted, the most a month first. Each finding is arithmetic over requests on record, with a bound where it rests on an
 * assumption. Less than a dollar a month is none.
 *
 * @param records of the range, in any order
 */
export const findingsIn = (records: readonly RequestRecord[], examined: Examined): Finding[] => {
  const { from, to } = examined;
  const all = records.toSorted((a, b) => timeOf(a) - timeOf(b));
  const sorted = all.filter(isPriceable);
  const days = Math.max(1, (to.getTime() - from.getTime()) / DAY_MS);
  const by = (of: (record: RequestRecord) => string | null, some: readonly RequestRecord[] = sorted) => [
    ...Map.groupBy(some, of).values(),
  ];
  const forwarded = all.filter(({ outcome }) => outcome !== 'refused');
  return [
    ...by((record) => JSON.stringify(scopeOf(record))).flatMap((some) => [
      ...unreadCacheWrites(some, examined),
      ...uncachedPrompts(some, examined),
      ...interruptedResponses(some, examined),
    ]),
    ...by(({ tag }) => tag).flatMap((some) => dearRemainder(some, examined)),
    ...by(({ keyId }) => keyId, forwarded).flatMap((some) => idleKeys(some, examined, days)),
    ...unneededReservations(all, examined),
    ...unusedPrices(all, examined),
  ]
    .map((waste) => ({
      ...waste,
      nanoUsdPerMonth: Math.round((waste.nanoUsd * DAYS_PER_MONTH) / (waste.days ?? days)),
    }))
    .filter(({ nanoUsdPerMonth }) => nanoUsdPerMonth >= LEAST_NANO_USD_PER_MONTH)
    .sort((a, b) => b.nanoUsdPerMonth - a.nanoUsdPerMonth)
    .map(({ kind, scope, nanoUsdPerMonth, certainty, arithmetic, records: behind }) => ({
      id: findingId(kind, scope),
      ...{ kind, scope, nanoUsdPerMonth, certainty, arithmetic },
      requests: behind.length,
      requestIds: behind
        .toSorted((a, b) => (b.costNanoUsd ?? 0) - (a.costNanoUsd ?? 0))
        .slice(0, MAX_IDS)
        .map(({ requestId }) => requestId),
    }));
};
