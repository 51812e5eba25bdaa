import { scopeOf } from '../../domain/accounts/scope.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { startOf, startOfNext } from '../../domain/calendar/utc.ts';
import { invalid, ValidationError } from '../../domain/errors.ts';
import type { Decision } from '../../domain/savings/decision.ts';
import type { Change } from '../../domain/savings/what-if.ts';
import { displayCostAt } from '../../domain/spend/display-currency.ts';
import { keptRange } from '../../domain/spend/request-record.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import * as spend from '../spend/operations.ts';
import type * as operations from './operations.ts';

const USUAL_DAYS = 30;
const MAX_DAYS = 31;
const MAX_GROUPS = 100;

/** @throws ValidationError for a range that is too long */
const rangeOf = ({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }, now: Date) => {
  const since = from ?? new Date(now.getTime() - USUAL_DAYS * DAY_MS).toISOString();
  const range = keptRange(instantsOf({ from: since, to }, now), now);
  if (Date.parse(range.to) - Date.parse(range.from) > MAX_DAYS * DAY_MS)
    throw invalid('from', `the range has more than ${MAX_DAYS} days`);
  return range;
};

/** The id of the price that a change adds. */
const ADDED = 'what-if';

/** The hours of longer ago are not kept: days are. */
const HOURS_ARE_KEPT_MS = 58 * DAY_MS;

/** Costs of the requests of a watched finding since, and before. Null where it is not about requests alone, or has no report. */
const readSince = async (
  { compareSpend, now }: Reading,
  input: Omit<Parameters<Reading['compareSpend']>[0], 'query'>,
  { decision, at, scope: { price, limit, ...scope } }: Decision,
) => {
  if (decision !== 'watched' || price !== undefined || limit !== undefined) return null;
  const unit = now().getTime() - Date.parse(at) > HOURS_ARE_KEPT_MS ? 'day' : 'hour';
  const start = startOf(unit, new Date(at));
  const elapsed = Math.max(startOf(unit, now()).getTime(), startOfNext(unit, start).getTime()) - start.getTime();
  const length = Math.min(elapsed, USUAL_DAYS * DAY_MS);
  const after = (ms: number) => new Date(start.getTime() + ms).toISOString();
  const { data: query } = spend.compareSpend.query.safeParse({
    ...Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, [value ?? '']])),
    ...{ compareFrom: after(-length), from: after(0), to: after(length), limit: 1 },
  });
  if (!query) return null;
  const compared = await compareSpend({ ...input, query }).catch((error) => {
    if (error instanceof ValidationError) return null;
    throw error;
  });
  return compared && { from: compared.from, to: compared.to, ...compared.totals, effects: compared.effects };
};

export const readSavings = (reading: Reading): Implementations<typeof operations> => ({
  readWhatIf: async ({ caller, body: { filter, change, ...bounds } }) => {
    const range = rangeOf(bounds, reading.now());
    const { key: keyId, ...others } = filter;
    const { keyIds } = scopeOf(caller).sees;
    const { readRecords, readPricing, whatIf } = await reading.savings();
    const [{ records, isComplete, readFrom }, { pricing }] = await Promise.all([
      readRecords(caller.accountId, range, { ...others, keyId, keyIds }),
      readPricing(caller.accountId),
    ]);
    const { price, ...rest } = change;
    const dates = { from: readFrom, until: range.to, createdAt: range.to, updatedAt: range.to };
    const asked: Change = { ...rest, ...(price && { price: { ...price, priceId: ADDED, name: ADDED, ...dates } }) };
    const { concernedNanoUsd, groups, ...result } = whatIf(records, asked, pricing, new Date(range.to));
    const days = (Date.parse(range.to) - Date.parse(readFrom)) / DAY_MS;
    return {
      ...{ from: readFrom, to: range.to },
      isComplete,
      ...result,
      breakEvenNanoUsd: price?.terms.kind === 'commitment' ? Math.round((concernedNanoUsd * USUAL_DAYS) / days) : null,
      groups: groups.slice(0, MAX_GROUPS),
    };
  },

  listSavings: async (input) => {
    const { savings, decisions, now } = reading;
    const { caller, query } = input;
    const range = rangeOf(query, now());
    const last = new Date(Date.parse(range.to) - 1).toISOString();
    const { keyIds } = scopeOf(caller).sees;
    const { readFindings } = await savings();
    const [{ findings, currency, requests, isComplete, readFrom }, decided] = await Promise.all([
      readFindings(caller.accountId, range, keyIds),
      keyIds ? [] : decisions.list(caller.accountId),
    ]);
    const displayOf = (nanoUsd: number | null) => currency && displayCostAt(currency, last, nanoUsd);
    const byId = new Map(findings.map((finding) => [finding.id, finding]));
    const isDecided = new Set(decided.map(({ findingId }) => findingId));
    return {
      ...{ from: readFrom, to: range.to, requests, isComplete },
      displayCurrency: currency?.code ?? null,
      items: findings
        .filter(({ id }) => !isDecided.has(id))
        .map((finding) => ({
          ...finding,
          displayPerMonth: displayOf(finding.nanoUsdPerMonth),
          requestIds: [...finding.requestIds],
        })),
      decided: await Promise.all(
        decided.map(async ({ findingId: id, ...decision }) => {
          const nanoUsdPerMonth = byId.get(id)?.nanoUsdPerMonth ?? null;
          const since = await readSince(reading, { ...input, body: undefined }, { findingId: id, ...decision });
          return { id, ...decision, nanoUsdPerMonth, displayPerMonth: displayOf(nanoUsdPerMonth), since };
        }),
      ),
    };
  },
});
