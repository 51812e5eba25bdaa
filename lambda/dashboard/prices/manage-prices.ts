import { type AuditedInput, auditOf, auditsOf, requireRoom } from '../../data/accounts/audit-log.ts';
import { PRICES_KNOWN_MS } from '../../data/accounts/own-prices.ts';
import { invalid, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { factorText } from '../../domain/own-prices/fraction.ts';
import { isMonthKind, type OwnPrice, type OwnPrices } from '../../domain/own-prices/own-price.ts';
import { withChange } from '../../domain/own-prices/price-job.ts';
import { requireAsRead } from '../../http/as-read.ts';
import type { Implementations } from '../../http/operation.ts';
import { requireOwned } from '../keys/member-projects.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

const MAX_PRICES = 50;
/** A month is closed after its end, from its requests: they must be there. */
const MIN_RETENTION_DAYS = 62;

const view = ({ priceId, ...price }: OwnPrice, { months }: OwnPrices) => ({
  id: priceId,
  ...price,
  months: Object.entries(months)
    .flatMap(([month, { factors, isFinal, asOf }]) => {
      const found = factors[priceId];
      if (!found) return [];
      const factor = { numerator: BigInt(found.numerator), denominator: BigInt(found.denominator) };
      return [{ month, factor: factorText(factor), sum: found.sum, isShared: found.isShared, isFinal, asOf }];
    })
    .sort((a, b) => (a.month < b.month ? 1 : -1)),
});

const instant = (dayOrInstant: string): string => new Date(dayOrInstant).toISOString();

/** @throws ValidationError */
const requireValid = ({ from, until, terms }: OwnPrice): void => {
  if (until !== null && until <= from) throw invalid('until', 'must be after from');
  if (until === null && terms.kind === 'credit') throw invalid('until', 'is needed: a credit expires');
};

const auditOfPrice = auditsOf(
  ({ priceId }: OwnPrice) => priceId,
  ({ priceId: _, createdAt: _created, updatedAt: _updated, terms, ...others }) =>
    Object.fromEntries(
      Object.entries({ ...others, terms: JSON.stringify(terms) }).map(([name, value]) => [name, value ?? 'none']),
    ),
);

const change = async (
  { ownPrices, now }: Settings,
  input: AuditedInput,
  action: 'price.created' | 'price.changed' | 'price.deleted',
  decide: (prices: readonly OwnPrice[]) => {
    readonly price: OwnPrice;
    readonly prices: readonly OwnPrice[];
    readonly previous?: OwnPrice;
  },
) => {
  const { accountId } = input.caller;
  const { price, own } = await ownPrices.change(accountId, (before) => {
    const { price, prices, previous } = decide(before.prices);
    const at = now();
    const own = withChange(before, prices, new Date(at.getTime() + PRICES_KNOWN_MS), at);
    return { price, own, audit: auditOfPrice(input, action, price, at, previous) };
  });
  return view(price, own);
};

const requireRetention = async (
  { termsOf }: Settings,
  accountId: string,
  { terms }: Pick<OwnPrice, 'terms'>,
): Promise<void> => {
  if (!isMonthKind(terms.kind) || (await termsOf(accountId)).retentionDays >= MIN_RETENTION_DAYS) return;
  throw new LimitReachedError(
    `A ${terms.kind} is computed from the requests of a whole month, which this plan does not keep: choose a larger plan.`,
  );
};

const findPrice = (prices: readonly OwnPrice[], priceId: string): OwnPrice => {
  const found = prices.find((price) => price.priceId === priceId);
  if (!found) throw new NotFoundError('There is no such price.');
  return found;
};

export const managePrices = (settings: Settings): Implementations<typeof operations> => ({
  listPrices: async ({ caller: { accountId } }) => {
    const { own } = await settings.ownPrices.read(accountId);
    const { job, lastJob, currency, unreadable } = own;
    return {
      items: own.prices.map((price) => view(price, own)),
      unreadable: unreadable?.length,
      limit: MAX_PRICES,
      currency,
      repricing: job && {
        months: job.months.filter((month) => !job.factorsOnly.includes(month)),
        startsAt: job.startsAt,
        changed: job.changed,
        differenceNanoUsd: job.differenceNanoUsd,
        failed: job.failed,
      },
      lastRepricing: lastJob,
    };
  },

  createPrice: async ({ caller, clientAddress, body: { from, until, ...facts } }) => {
    const at = settings.now().toISOString();
    const price: OwnPrice = {
      ...facts,
      priceId: settings.newId(),
      from: instant(from),
      until: until === null ? null : instant(until),
      createdAt: at,
      updatedAt: at,
    };
    requireValid(price);
    await requireOwned(settings, caller.accountId, price);
    await requireRetention(settings, caller.accountId, price);
    return change(settings, { caller, clientAddress }, 'price.created', (prices) => {
      requireRoom(prices, MAX_PRICES, 'prices');
      return { price, prices: [...prices, price] };
    });
  },

  updatePrice: async ({ caller, clientAddress, params: { id }, body: { from, until, was, ...patch } }) => {
    await requireOwned(settings, caller.accountId, patch);
    if (patch.terms) await requireRetention(settings, caller.accountId, { terms: patch.terms });
    return change(settings, { caller, clientAddress }, 'price.changed', (prices) => {
      const before = findPrice(prices, id);
      requireAsRead(before, was, { from, until, ...patch });
      const merged = Object.fromEntries(
        Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null),
      ) as Omit<OwnPrice, 'until'>;
      const price: OwnPrice = {
        ...merged,
        from: from === undefined ? before.from : instant(from),
        until: until === undefined ? before.until : until && instant(until),
        updatedAt: settings.now().toISOString(),
      };
      requireValid(price);
      return { price, previous: before, prices: prices.map((each) => (each === before ? price : each)) };
    });
  },

  deletePrice: async ({ caller, clientAddress, params: { id } }) => {
    await change(settings, { caller, clientAddress }, 'price.deleted', (prices) => {
      const price = findPrice(prices, id);
      return { price, prices: prices.filter((each) => each !== price) };
    });
  },

  setCurrency: async ({ caller, clientAddress, body: { currency } }) => {
    const detailsOf = (shown: typeof currency) => ({
      currency: shown?.code ?? 'USD',
      rates: JSON.stringify(shown?.rates ?? []),
    });
    await settings.ownPrices.change(caller.accountId, (own) => {
      const [details, before] = [detailsOf(currency), detailsOf(own.currency)];
      const fact = { action: 'currency.changed', details, before } as const;
      return { own: { ...own, currency }, audit: auditOf({ caller, clientAddress }, fact, settings.now()) };
    });
    return { currency };
  },
});
