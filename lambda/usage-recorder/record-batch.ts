import pMap from 'p-map';
import type { Committed } from '../data/ledger/ledger.ts';
import type { Change } from '../data/ledger/transactions.ts';
import type { ResponseName } from '../data/requests/counted-responses.ts';
import type { RequestName } from '../data/requests/requests.ts';
import { DAY_SECONDS } from '../domain/calendar/units.ts';
import { type Day, dayOf } from '../domain/calendar/utc.ts';
import type { SpendDimensions } from '../domain/spend/dimensions.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { type AccountCloseEvent, isClose, nameOf, onePerRequest } from './events.ts';
import { countableResponse, type Event, type Plan, planEvents, toChange } from './plan.ts';

/** What the recorder needs of the ledger. */
export interface LedgerAccess {
  findRecords(names: readonly RequestName[], options: { readonly consistent: boolean }): Promise<RequestRecord[]>;
  findAnswers(names: readonly ResponseName[]): Promise<ReadonlyMap<string, string>>;
  overflowLevels(accountId: string, day: Day, wanted: readonly SpendDimensions[]): Promise<number[]>;
  commit(changes: readonly Change[]): Promise<Committed>;
  price(event: AccountCloseEvent): PricedUsage;
  now(): number;
}

/** What became of an event. `recorded` and `known` are done with; `failed` must be delivered again. */
export type Fate =
  | { readonly kind: 'recorded'; readonly record: RequestRecord }
  | { readonly kind: 'known' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly permanent: boolean };

/** Account-days whose cells are claimed side by side; days whose cells are all known cost nothing. */
const CLAIMS_AT_ONCE = 16;
/** Each round one writer of those that meet gets through, so a handful is plenty. */
const MAX_ROUNDS = 6;

/** The same record was changed by others in every round. */
class RecordContentionError extends Error {
  override readonly name = 'RecordContentionError';
}

const failed = (error: unknown, permanent = false): Fate => ({ kind: 'failed', error, permanent });

/**
 * Records the events of some accounts. Events are matched against what the ledger holds, written on top of exactly that, and
 * matched again where others wrote in between: duplicates, reordering and concurrent recorders change nothing.
 *
 * @param retentionDays how long each account keeps records, by its id
 * @returns the result of every request that the events speak of, by nameOf
 */
export const recordBatch =
  (ledger: LedgerAccess) =>
  async (events: readonly Event[], retentionDays: ReadonlyMap<string, number>): Promise<Map<string, Fate>> => {
    const results = new Map<string, Fate>();
    const expiresAt = ({ accountId, startedAt }: RequestName) =>
      Math.floor(Date.parse(startedAt) / 1_000) + (retentionDays.get(accountId) ?? 0) * DAY_SECONDS;

    const read = async (some: readonly Event[], consistent: boolean) => {
      const answers = some.filter(isClose).flatMap((event) => countableResponse(event, ledger.price(event)) ?? []);
      const records = await ledger.findRecords(some, { consistent });
      return {
        records: new Map(records.map((record) => [nameOf(record), record])),
        answers: answers.length > 0 ? await ledger.findAnswers(answers) : new Map<string, string>(),
      };
    };

    /** The changes of one account's day; its events fail alone where its cells cannot be claimed. */
    const toChanges = async (plans: readonly Plan[]): Promise<Change[]> => {
      const { accountId, startedAt } = (plans[0] as Plan).event;
      const recordedAt = new Date(ledger.now()).toISOString();
      try {
        const wanted = plans.map(({ dimensions }) => dimensions);
        const levels = await ledger.overflowLevels(accountId, dayOf(startedAt), wanted);
        return plans.map((plan, i) =>
          toChange(plan, levels[i] as number, { recordedAt, expiresAt: expiresAt(plan.event) }),
        );
      } catch (error) {
        for (const { event } of plans) results.set(nameOf(event), failed(error));
        return [];
      }
    };

    const allChanges = async (plans: readonly Plan[]): Promise<Change[]> => {
      const byDay = Map.groupBy(plans, ({ event }) => `${event.accountId}#${dayOf(event.startedAt)}`);
      return (await pMap(byDay.values(), toChanges, { concurrency: CLAIMS_AT_ONCE })).flat();
    };

    let pending = onePerRequest(events);
    for (const [name, event] of pending) {
      // Its record, had there been one, may be gone by now: whether it was counted can no longer be told.
      if (expiresAt(event) > ledger.now() / 1_000) continue;
      results.set(name, { kind: 'expired' });
      pending.delete(name);
    }
    // Most close events are the first to tell of their request: the write finds out where one is not, at no cost.
    // Most open events are not: reading them is cheaper than a write refused.
    let state = await read(
      [...pending.values()].filter((event) => !isClose(event)),
      false,
    );
    for (let round = 0; pending.size > 0; round++) {
      const plans = planEvents(pending.values(), state, ledger.price);
      const news = new Set(plans.map(({ event }) => nameOf(event)));
      for (const name of pending.keys()) if (!news.has(name)) results.set(name, { kind: 'known' });
      const result = await ledger.commit(await allChanges(plans));
      for (const { after } of result.written) results.set(nameOf(after), { kind: 'recorded', record: after });
      for (const { change, error, permanent } of result.failed)
        results.set(nameOf(change.after), failed(error, permanent));
      const refused = new Set(result.refused.map(({ after }) => nameOf(after)));
      pending = new Map([...pending].filter(([name]) => refused.has(name)));
      if (pending.size === 0) break;
      if (round + 1 === MAX_ROUNDS) {
        const error = new RecordContentionError('A record kept changing while an event was being recorded.');
        for (const name of pending.keys()) results.set(name, failed(error));
        break;
      }
      state = await read([...pending.values()], true);
    }
    return results;
  };
