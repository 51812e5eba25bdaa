import type { AnswerName } from '../data/counted-answers.ts';
import type { Committed } from '../data/ledger.ts';
import type { Change } from '../data/ledger-plan.ts';
import type { RequestName } from '../data/requests.ts';
import type { SpendDimensions } from '../domain/spend/dimensions.ts';
import { type Day, dayOf } from '../domain/spend/periods.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import type { PricedUsage } from '../domain/usage.ts';
import { type AccountCloseEvent, isClose, onePerRequest } from './events.ts';
import { countableAnswer, type Event, type Plan, planEvents, toChange } from './plan.ts';

/** What the recorder needs of the ledger. */
export interface LedgerAccess {
  findRecords(names: readonly RequestName[], options: { readonly consistent: boolean }): Promise<RequestRecord[]>;
  findAnswers(names: readonly AnswerName[]): Promise<ReadonlyMap<string, string>>;
  foldLevels(accountId: string, day: Day, wanted: readonly SpendDimensions[]): Promise<number[]>;
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

/** Each round one writer of those that meet gets through, so a handful is plenty. */
const MAX_ROUNDS = 6;

/** The same record was changed by others in every round. */
class RecordContentionError extends Error {
  override readonly name = 'RecordContentionError';
}

const DAY_SECONDS = 86_400;

/**
 * Records the events of one account. Events are matched against what the ledger holds, written on top of exactly that, and
 * matched again where others wrote in between: duplicates, reordering and concurrent recorders change nothing.
 *
 * @returns the fate of every request that the events speak of, by request id
 */
export const recordAccountEvents =
  (ledger: LedgerAccess) =>
  async (accountId: string, events: readonly Event[], retentionDays: number): Promise<Map<string, Fate>> => {
    const fates = new Map<string, Fate>();
    const expiresAt = (startedAt: string) => Math.floor(Date.parse(startedAt) / 1_000) + retentionDays * DAY_SECONDS;

    const read = async (some: readonly Event[], consistent: boolean) => {
      const answers = some.filter(isClose).flatMap((event) => countableAnswer(event, ledger.price(event)) ?? []);
      return {
        records: new Map((await ledger.findRecords(some, { consistent })).map((found) => [found.requestId, found])),
        answers: answers.length > 0 ? await ledger.findAnswers(answers) : new Map<string, string>(),
      };
    };

    const toChanges = async (plans: readonly Plan[]): Promise<Change[]> => {
      const recordedAt = new Date(ledger.now()).toISOString();
      const changes: Change[] = [];
      for (const [day, ofDay] of Map.groupBy(plans, ({ event }) => dayOf(event.startedAt))) {
        const levels = await ledger.foldLevels(
          accountId,
          day,
          ofDay.map(({ dimensions }) => dimensions),
        );
        for (const [index, plan] of ofDay.entries())
          changes.push(
            toChange(plan, levels[index] as number, { recordedAt, expiresAt: expiresAt(plan.event.startedAt) }),
          );
      }
      return changes;
    };

    let pending = onePerRequest(events);
    for (const [requestId, { startedAt }] of pending) {
      // Its record, had there been one, may be gone by now: whether it was counted can no longer be told.
      if (expiresAt(startedAt) > ledger.now() / 1_000) continue;
      fates.set(requestId, { kind: 'expired' });
      pending.delete(requestId);
    }
    // Most close events are the first to tell of their request: the write finds out where one is not, at no cost.
    // Most open events are not: reading them is cheaper than a write refused.
    let state = await read(
      [...pending.values()].filter((event) => !isClose(event)),
      false,
    );
    for (let round = 0; pending.size > 0; round++) {
      const plans = planEvents(pending.values(), state, ledger.price);
      const { written, refused, failed } = await ledger.commit(await toChanges(plans));
      const refusedIds = new Set(refused.map(({ after }) => after.requestId));
      for (const requestId of pending.keys()) if (!refusedIds.has(requestId)) fates.set(requestId, { kind: 'known' });
      for (const { after } of written) fates.set(after.requestId, { kind: 'recorded', record: after });
      for (const { change, error, permanent } of failed)
        fates.set(change.after.requestId, { kind: 'failed', error, permanent });
      pending = new Map([...pending].filter(([requestId]) => refusedIds.has(requestId)));
      if (pending.size === 0) break;
      if (round + 1 === MAX_ROUNDS) {
        const error = new RecordContentionError('A record kept changing while an event was being recorded.');
        for (const requestId of pending.keys()) fates.set(requestId, { kind: 'failed', error, permanent: false });
        break;
      }
      state = await read([...pending.values()], true);
    }
    return fates;
  };
