import type { UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';

/*
 * What the ledger must say, by plain arithmetic over a list of requests. Nothing here uses the sums, names or calendar of the product:
 * a mistake there must not be repeated here.
 */

export const crossDimensions = ['provider', 'model', 'tag', 'keyId', 'providerKey'] as const;
/** Counted on their own: the client always, `team` since the account began, `env` on and off. */
export const ownDimensions = ['client', 'dim:team', 'dim:env'] as const;
export type Dimension = (typeof crossDimensions)[number] | (typeof ownDimensions)[number];
export type Names = Readonly<Record<Dimension, string | null>>;

/** How the price of a request is known. `unknown` has tokens without a price; tokens of null have no usage at all. */
export const priceKinds = ['provider', 'computed', 'estimated', 'free', 'unknown'] as const;
export type PriceKind = (typeof priceKinds)[number];

/** How a request ended, as its close event says. */
interface End {
  readonly tokens: number | null;
  readonly priceKind: PriceKind;
  readonly isError: boolean;
  readonly durationMs: number;
  /** The gateway did not forward it. */
  readonly isRefused: boolean;
  readonly isPartial: boolean;
  readonly isBypassed: boolean;
  /** The model of the response. */
  readonly model: string | null;
  /** The response is one of the background: each time that it is fetched is a request of its own, and one of them is counted. */
  readonly responseId: string | null;
}

/** A request as it was. */
export interface Request {
  readonly accountId: string;
  readonly requestId: string;
  readonly startedAt: string;
  readonly names: Omit<Names, 'model'>;
  readonly end: End;
}

/** A request as the ledger knows it. */
interface Known {
  readonly request: Request;
  isClosed: boolean;
  /** What a token costs, in units of TOKEN_NANO_USD. */
  factor: number;
  /** Milliseconds. The record may be gone from then on. */
  expiresAt: number;
  isStored: boolean;
}

export const TOKEN_NANO_USD = 7;
/** A second for so many tokens: a unit that is no token. */
export const TOKENS_A_SECOND = 8;
/** More than this in one request is not plausible, thousandths of seconds included. */
const MAX_PLAUSIBLE = 9e13;
const DAY_MS = 86_400_000;
/** Older events are dropped: docs/ledger.md. */
const MAX_AGE_DAYS = 29;

const sumNames = [
  'requests',
  'provider',
  'computed',
  'estimated',
  'unpriced',
  'free',
  'errors',
  'partial',
  'unfinished',
  'bypassed',
  'tokens',
  'milliseconds',
] as const;
/** Costs are in nano-USD, by how they are known. */
export type Sums = Record<(typeof sumNames)[number], number>;

export const zero = (): Sums => Object.fromEntries(sumNames.map((name) => [name, 0])) as Sums;
export const costOf = ({ provider, computed, estimated }: Sums): number => provider + computed + estimated;

const addTo = (sum: Sums, more: Sums): Sums => {
  for (const name of sumNames) sum[name] += more[name];
  return sum;
};
export const sumOf = (all: Iterable<Sums>): Sums => {
  const sum = zero();
  for (const each of all) addTo(sum, each);
  return sum;
};

/** A client's own name as reports show it: `(other)` is what overflow is called, and a lone surrogate cannot be stored. */
const shown = (name: string | null): string | null => {
  if (name === null) return null;
  return (/^\\*\(other\)$/.test(name) ? `\\${name}` : name).toWellFormed();
};

/** A value of metadata as reports show it. */
const shownValue = (value: string | null): string | null => {
  if (!value) return null;
  return (/^\\*\((other|unknown)\)$/.test(value) ? `\\${value}` : value).toWellFormed();
};

/** Which requests to add up. Times are prefixes or instants in ISO 8601; `to` is not included. */
export interface Wanted {
  readonly accountId: string;
  readonly from: string;
  readonly to: string;
  readonly filter?: Partial<Record<Dimension, readonly (string | null)[]>>;
}

export interface Fact {
  readonly request: Request;
  readonly names: Names;
  readonly sums: Sums;
  /** Null where it is not known, and where the request was not forwarded. */
  readonly durationMs: number | null;
  readonly isClosed: boolean;
  readonly expiresAt: number;
  readonly isStored: boolean;
}

export const groupKey = (names: Partial<Names>, by: readonly Dimension[]): string =>
  JSON.stringify(by.map((name) => names[name] ?? null));

export class LedgerModel {
  readonly #known = new Map<string, Known>();
  #facts: readonly Fact[] | null = null;

  /**
   * An event that a recorder acknowledged.
   *
   * @param terms when it did, and what held then: days that the plan keeps records, and the price of a token
   */
  acknowledge(
    event: UsageEvent,
    request: Request,
    terms: { now: number; retentionDays: number; factor: number },
  ): void {
    if (Date.parse(request.startedAt) + MAX_AGE_DAYS * DAY_MS <= terms.now) return;
    const known = this.#known.get(request.requestId);
    const isClose = event.kind === 'close';
    if (known && (known.isClosed || !isClose)) return;
    this.#facts = null;
    const expiresAt = Date.parse(request.startedAt.slice(0, 10)) + (1 + terms.retentionDays) * DAY_MS;
    this.#known.set(request.requestId, {
      request,
      isClosed: isClose,
      factor: terms.factor,
      expiresAt,
      isStored: true,
    });
  }

  /** Whether the ledger has all that the events of a request can tell it. */
  isClosed(requestId: string): boolean {
    return this.#known.get(requestId)?.isClosed ?? false;
  }

  /** All records that exist are priced again. */
  reprice(factor: number): void {
    this.#facts = null;
    for (const known of this.#known.values()) if (known.isStored && known.isClosed) known.factor = factor;
  }

  /** The record of a request is gone, and what it added to sums is not. */
  forget(requestId: string): void {
    this.#facts = null;
    const known = this.#known.get(requestId);
    if (known) known.isStored = false;
  }

  facts(): readonly Fact[] {
    if (this.#facts) return this.#facts;
    const counted = new Set<string>();
    const facts: Fact[] = [];
    for (const known of [...this.#known.values()].sort((a, b) =>
      a.request.requestId < b.request.requestId ? -1 : 1,
    )) {
      const { request, isClosed } = known;
      const response = isClosed && request.end.responseId;
      const isRepeat = response ? counted.has(`${request.accountId} ${response}`) : false;
      if (response) counted.add(`${request.accountId} ${response}`);
      facts.push({
        ...known,
        names: {
          ...request.names,
          tag: shown(request.names.tag),
          'dim:team': shownValue(request.names['dim:team']),
          'dim:env': shownValue(request.names['dim:env']),
          model: isClosed ? shown(request.end.model) : null,
        },
        sums: sumsOf(known, isRepeat),
        durationMs: isClosed && !request.end.isRefused ? request.end.durationMs : null,
      });
    }
    this.#facts = facts;
    return facts;
  }

  matching({ accountId, from, to, filter = {} }: Wanted): Fact[] {
    const wanted = Object.entries(filter) as [Dimension, readonly (string | null)[]][];
    return this.facts().filter(
      ({ request, names }) =>
        request.accountId === accountId &&
        request.startedAt >= from &&
        request.startedAt < to &&
        wanted.every(([name, values]) => values.includes(names[name])),
    );
  }

  total(wanted: Wanted): Sums {
    return sumOf(this.matching(wanted).map(({ sums }) => sums));
  }

  /** Sums by a text made of each request. */
  by(wanted: Wanted, keyOf: (fact: Fact) => string): Map<string, Sums> {
    const groups = new Map<string, Sums>();
    for (const fact of this.matching(wanted)) {
      const key = keyOf(fact);
      groups.set(key, addTo(groups.get(key) ?? zero(), fact.sums));
    }
    return groups;
  }
}

const sumsOf = ({ request: { end }, isClosed, factor }: Known, isRepeat: boolean): Sums => {
  const sums = { ...zero(), requests: 1 };
  if (!isClosed) return { ...sums, unpriced: 1, unfinished: 1 };
  const ending = {
    ...sums,
    errors: Number(end.isError),
    partial: Number(end.isPartial),
    bypassed: Number(end.isBypassed),
  };
  if (isRepeat) return { ...ending, free: 1 };
  const { tokens, priceKind } = end;
  const milliseconds = tokens === null ? 0 : (tokens / TOKENS_A_SECOND) * 1_000;
  if (tokens === null || milliseconds > MAX_PLAUSIBLE) return { ...ending, unpriced: 1 };
  const used = { ...ending, tokens, milliseconds };
  if (priceKind === 'unknown') return { ...used, unpriced: 1 };
  if (priceKind === 'free') return { ...used, free: 1 };
  return { ...used, [priceKind]: tokens * TOKEN_NANO_USD * factor };
};

/** A rule that adds up something over a period. */
export interface ModelRule {
  readonly ruleId: string;
  readonly accountId: string;
  readonly type: 'cost_threshold' | 'unpriced_usage' | 'error_rate';
  readonly period: 'hourly' | 'daily' | 'weekly' | 'monthly';
  /** Nano-USD, requests, or percent. */
  readonly limit: number;
  readonly filter: Wanted['filter'];
  readonly effectiveFrom: number;
}

/** First instants of a period and of the next one. */
export const periodOf = (name: ModelRule['period'], atMs: number): { readonly from: string; readonly to: string } => {
  const at = new Date(atMs);
  const [year, month, date, hour] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()];
  const monday = date - ((at.getUTCDay() + 6) % 7);
  const bounds = {
    hourly: [Date.UTC(year, month, date, hour), Date.UTC(year, month, date, hour + 1)],
    daily: [Date.UTC(year, month, date), Date.UTC(year, month, date + 1)],
    weekly: [Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7)],
    monthly: [Date.UTC(year, month), Date.UTC(year, month + 1)],
  }[name] as [number, number];
  return { from: new Date(bounds[0]).toISOString(), to: new Date(bounds[1]).toISOString() };
};

const HOUR_MS = 3_600_000;
/** A request without an end counts as unpriced once its hour (day) has been over for so long: docs/dashboard-api.md. */
const UNFINISHED_AFTER_MS = { hourly: 2 * HOUR_MS, daily: DAY_MS } as const;

const isStillOpen = ({ request, isClosed }: Fact, period: 'hourly' | 'daily', nowMs: number): boolean =>
  !isClosed && Date.parse(periodOf(period, Date.parse(request.startedAt)).to) + UNFINISHED_AFTER_MS[period] > nowMs;

/** Whether requests reach a rule's limit. Errors are a share of requests, of which there must be twenty. */
export const isExceeded = ({ type, period, limit }: ModelRule, facts: readonly Fact[], nowMs: number): boolean => {
  const sums = sumOf(facts.map((fact) => fact.sums));
  if (type === 'cost_threshold') return costOf(sums) >= limit;
  if (type === 'error_rate') return sums.requests >= 20 && sums.errors * 100 >= limit * sums.requests;
  const grace = period === 'hourly' ? 'hourly' : 'daily';
  return sums.unpriced - facts.filter((fact) => isStillOpen(fact, grace, nowMs)).length >= limit;
};
