import type { Change } from '../data/ledger/transactions.ts';
import { responseKeyText } from '../data/requests/counted-responses.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { plausible } from './build-record.ts';
import type { AccountCloseEvent } from './events.ts';
import { countableResponse } from './plan.ts';
import type { LedgerAccess } from './record-batch.ts';

type RepriceAccess = Pick<LedgerAccess, 'findRecords' | 'findAnswers' | 'commit' | 'price'>;

export interface RepriceResult {
  /** Records whose price changed, or would. */
  readonly changes: readonly Change[];
  /** Changes that could not be written, or were overtaken each time. */
  readonly failed: number;
}

const MAX_ROUNDS = 5;

/** What is priced anew: a settled request whose usage is on record, and which no other request already stands for. */
const isPriceable = (
  record: RequestRecord,
): record is RequestRecord & { reading: NonNullable<RequestRecord['reading']> } =>
  record.reading !== null && !record.readingTruncated && record.repeatOf === null;

/** The event a record came from, as far as pricing looks at it. */
const eventOf = (record: RequestRecord & { reading: NonNullable<RequestRecord['reading']> }) =>
  ({ ...record, kind: 'close', version: 1 }) as unknown as AccountCloseEvent;

const priceOf = ({ usage, costNanoUsd, provenance, priceSource, lines, reason }: PricedUsage | RequestRecord): string =>
  JSON.stringify([usage, costNanoUsd, provenance, priceSource, lines, reason], (_, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

/**
 * Prices records anew from the usage they hold. Counters follow by the difference, in the same transaction as the record;
 * a second run finds nothing to change.
 */
export const repriceRecords =
  ({ findRecords, findAnswers, commit, price }: RepriceAccess) =>
  async (records: readonly RequestRecord[], options: { readonly dryRun: boolean }): Promise<RepriceResult> => {
    const plan = async (some: readonly RequestRecord[]): Promise<Change[]> => {
      const priced = some.filter(isPriceable).map((before) => {
        const event = eventOf(before);
        const now = plausible(price(event));
        return { before, now, answer: countableResponse(event, now) };
      });
      const changed = priced.filter(({ before, now }) => priceOf(before) !== priceOf(now));
      const answers = new Map(await findAnswers(changed.flatMap(({ answer }) => answer ?? [])));
      return changed.flatMap(({ before, now, answer }): Change[] => {
        const countedWith = answer && answers.get(responseKeyText(answer));
        // The answer stands in the ledger with another request: it must not be counted a second time.
        if (countedWith && countedWith !== before.requestId) return [];
        if (answer) answers.set(responseKeyText(answer), before.requestId);
        return [
          {
            before,
            after: { ...before, ...now, lines: [...now.lines], revision: before.revision + 1 },
            countsResponse: answer && !countedWith ? answer.responseId : undefined,
          },
        ];
      });
    };

    let changes = await plan(records);
    if (options.dryRun) return { changes, failed: 0 };
    const written: Change[] = [];
    let failed = 0;
    for (let round = 0; round < MAX_ROUNDS && changes.length > 0; round++) {
      const result = await commit(changes);
      written.push(...result.written);
      failed += result.failed.length;
      const overtaken = result.refused.map(({ after }) => after);
      changes = overtaken.length > 0 ? await plan(await findRecords(overtaken, { consistent: true })) : [];
    }
    return { changes: written, failed: failed + changes.length };
  };
