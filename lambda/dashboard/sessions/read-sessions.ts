import { hasKey, scopeOf } from '../../domain/accounts/scope.ts';
import { instantsOfDays } from '../../domain/calendar/range.ts';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import { boundsOf, type Day, dayOf } from '../../domain/calendar/utc.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { addCounters, type Counters } from '../../domain/spend/counters.ts';
import { type DisplayCurrency, displayRates } from '../../domain/spend/display-currency.ts';
import { keptRange, type RequestRecord } from '../../domain/spend/request-record.ts';
import {
  agentsOf,
  bySessionOrder,
  type SessionCounter,
  type SessionSums,
  sessionSums,
} from '../../domain/spend/sessions.ts';
import { sumsOf } from '../../domain/spend/spend-report.ts';
import type { Caller, Implementations } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import { requestSummary } from '../requests/request-view.ts';
import type * as operations from './operations.ts';

/** Requests that one response lists at most. GET /requests lists the others. */
const MAX_LISTED_REQUESTS = 500;

/** The pages that one response reads at most. Each may have read many records of other sessions. */
const MAX_PAGES = 4;

type Activity = Pick<SessionSums, 'clients' | 'firstHour' | 'lastHour' | 'counters'>;

const sumsIn = (counters: Counters, currency: DisplayCurrency | null) => ({
  ...sumsOf(counters, false, currency),
  ...(currency && { displayCurrency: currency.code }),
});

const activityOf = ({ clients, firstHour, lastHour, counters }: Activity, currency: DisplayCurrency | null) => ({
  clients: clients.toSorted(),
  firstHour,
  lastHour,
  ...sumsIn(counters, currency),
});

/** Splits the costs of session counters by the rates of their days. */
const atRates = (currency: DisplayCurrency | null, { from, to }: { from: Day; to: Day }) => {
  const rates = currency && displayRates(currency, { ...boundsOf(from, to), granularity: 'day' });
  return (counter: SessionCounter): SessionCounter =>
    rates ? { ...counter, counters: rates.split(counter.firstHour, counter.counters) } : counter;
};

/** From the first hour to the end of the last. */
const hoursOf = ({ firstHour, lastHour }: Activity) => ({
  from: new Date(`${firstHour}:00Z`).toISOString(),
  to: new Date(Date.parse(`${lastHour}:00Z`) + HOUR_MS).toISOString(),
});

/** The whole days that a range touches. */
const daysOf = ({ from, to }: { readonly from: string; readonly to: string }): { from: Day; to: Day } => ({
  from: dayOf(from),
  to: dayOf(new Date(Date.parse(to) - 1).toISOString()),
});

export const readSessions = ({
  sessions,
  findCurrency,
  now,
  requests,
}: Reading): Implementations<typeof operations> => {
  const listRequests = async (caller: Caller, session: string, range: { from: string; to: string }) => {
    const filter = { session, keyIds: scopeOf(caller).sees.keyIds };
    const items: RequestRecord[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && items.length < MAX_LISTED_REQUESTS; page++) {
      const limit = MAX_LISTED_REQUESTS - items.length;
      const found = await requests.page(caller.accountId, { ...range, filter, limit, cursor });
      items.push(...found.items);
      if (found.nextCursor === null) break;
      cursor = found.nextCursor;
    }
    return items;
  };

  return {
    listSessions: async ({ caller, query: { from, to, orderBy, limit } }) => {
      const { sees } = scopeOf(caller);
      const days = daysOf(keptRange(instantsOfDays({ from, to }, now()), now()));
      const totals = sessionSums('sessionId');
      const currency = await findCurrency(caller.accountId);
      const atRate = atRates(currency, days);
      const readFrom = await sessions.read(caller.accountId, days, (counter) => {
        if (hasKey(sees, counter.keyId)) totals.add(atRate(counter));
      });
      const found = totals.all();
      return {
        ...boundsOf(readFrom, days.to),
        isComplete: readFrom === days.from,
        sessions: found.length,
        totals: sumsIn(
          found.reduce((sum, { counters }) => addCounters(sum, counters), {}),
          currency,
        ),
        items: found
          .sort(bySessionOrder(orderBy))
          .slice(0, limit)
          .map((session) => ({
            id: session.sessionId,
            agents: session.agents.length,
            ...activityOf(session, currency),
          })),
      };
    },

    readSession: async ({ caller, params: { sessionId }, query: { from, to } }) => {
      const { sees } = scopeOf(caller);
      const days = daysOf(keptRange(instantsOfDays({ from, to }, now()), now()));
      const found = await sessions.find(caller.accountId, sessionId, days);
      const currency = await findCurrency(caller.accountId);
      const seen = found.filter(({ keyId }) => hasKey(sees, keyId)).map(atRates(currency, days));
      const session = sessionSums('sessionId');
      for (const counter of seen) session.add(counter);
      const [whole] = session.all();
      if (!whole) throw new NotFoundError('There is no such session in this range. Its retention may have ended.');
      const items = await listRequests(caller, sessionId, hoursOf(whole));
      const byAgent = Map.groupBy(items, ({ session }) => session?.agentId ?? null);
      return {
        id: sessionId,
        ...boundsOf(days.from, days.to),
        ...activityOf(whole, currency),
        agents: agentsOf(seen).map((agent) => ({
          agentId: agent.agentId,
          parentAgentId: agent.parentAgentId,
          ...activityOf(agent, currency),
          items: (byAgent.get(agent.agentId) ?? []).map((record) => requestSummary(record, currency)),
        })),
        isComplete: items.length === whole.counters.requests,
      };
    },
  };
};
