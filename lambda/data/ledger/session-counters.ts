import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { dayOf, endOf } from '../../domain/calendar/utc.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { sessionCounterName } from '../table/keys.ts';

/**
 * The session counter of a record, if it belongs to a session. It has the same sums as the spend counters, and they change in the same
 * transaction, so a session is exact whatever comes late, twice or again. It lives as long as the last record of its day.
 */
export const sessionCounterOf = (
  record: Pick<RequestRecord, 'startedAt' | 'expiresAt' | 'session' | 'client'>,
): { readonly counterName: string; readonly expiresAt: number } | null => {
  const { startedAt, session, client } = record;
  if (session === null) return null;
  const retentionDays = Math.round((record.expiresAt - Date.parse(startedAt) / 1_000) / DAY_SECONDS);
  const { id: sessionId, agentId = null, parentAgentId = null } = session;
  return {
    counterName: sessionCounterName({ sessionId, agentId, parentAgentId, client }),
    expiresAt: endOf(dayOf(startedAt)).getTime() / 1_000 + retentionDays * DAY_SECONDS,
  };
};
