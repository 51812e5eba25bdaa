import type { Hour } from '../calendar/utc.ts';
import { addCounters, byKnownCost, type Counters } from './counters.ts';

/** Sums of what one agent of a session sent with one client and one key on one day. Of a busy session there are several, whose sum counts. */
export interface SessionCounter {
  readonly sessionId: string;
  /** Null: the main agent. */
  readonly agentId: string | null;
  /** Null where the main agent started it, and for the main agent itself. */
  readonly parentAgentId: string | null;
  /** Null where it was not recognized. */
  readonly client: string | null;
  readonly keyId: string | null;
  readonly counters: Counters;
  /** When its first and its last request began, to the hour: `2026-11-20T16`, UTC. */
  readonly firstHour: Hour;
  readonly lastHour: Hour;
}

/** The sums of several session counters. Lists, since nearly all have one member. */
interface Sums {
  counters: Counters;
  firstHour: Hour;
  lastHour: Hour;
  readonly clients: string[];
}

export interface AgentSums extends Readonly<Sums> {
  readonly agentId: string | null;
  readonly parentAgentId: string | null;
}

export interface SessionSums extends Readonly<Sums> {
  readonly sessionId: string;
  /** Ids of its agents; null is the main agent. */
  readonly agents: readonly (string | null)[];
}

const include = <T>(list: T[], value: T): void => {
  if (!list.includes(value)) list.push(value);
};

const sumsOf = ({ counters, client, firstHour, lastHour }: SessionCounter): Sums => ({
  ...{ counters, firstHour, lastHour, clients: client === null ? [] : [client] },
});

const add = (sums: Sums, { counters, client, firstHour, lastHour }: SessionCounter): void => {
  sums.counters = addCounters(sums.counters, counters);
  if (firstHour < sums.firstHour) sums.firstHour = firstHour;
  if (lastHour > sums.lastHour) sums.lastHour = lastHour;
  if (client !== null) include(sums.clients, client);
};

/** False where all requests moved to another counter, and of what is left where a counter has expired. */
const hasRequests = ({ counters }: Pick<Sums, 'counters'>): boolean => (counters.requests ?? 0) > 0;

/** Adds up session counters by session, as they come. */
export class SessionTotals {
  readonly #sessions = new Map<string, Sums & { readonly sessionId: string; readonly agents: (string | null)[] }>();

  add(counter: SessionCounter): void {
    const { sessionId, agentId } = counter;
    const session = this.#sessions.get(sessionId);
    if (!session) this.#sessions.set(sessionId, { ...sumsOf(counter), sessionId, agents: [agentId] });
    else {
      include(session.agents, agentId);
      add(session, counter);
    }
  }

  /** All sessions with requests. */
  sessions(): SessionSums[] {
    return [...this.#sessions.values()].filter(hasRequests);
  }
}

/** Orders sessions: the costliest first, or those that were active last. */
export const bySessionOrder = (order: 'cost' | 'time') => {
  const byTime = (a: SessionSums, b: SessionSums) => (a.lastHour === b.lastHour ? 0 : a.lastHour > b.lastHour ? -1 : 1);
  const byCost = (a: SessionSums, b: SessionSums) => byKnownCost(a.counters, b.counters);
  const [first, second] = order === 'cost' ? [byCost, byTime] : [byTime, byCost];
  return (a: SessionSums, b: SessionSums): number =>
    first(a, b) || second(a, b) || (a.sessionId < b.sessionId ? -1 : 1);
};

/** The sums of each agent of one session: the main agent first, then in the order of their first hour. */
export const agentsOf = (counters: readonly SessionCounter[]): AgentSums[] => {
  const agents = new Map<string | null, Sums & { readonly agentId: string | null; parentAgentId: string | null }>();
  for (const counter of counters) {
    const { agentId, parentAgentId } = counter;
    const agent = agents.get(agentId);
    if (!agent) agents.set(agentId, { ...sumsOf(counter), agentId, parentAgentId });
    else {
      agent.parentAgentId ??= parentAgentId;
      add(agent, counter);
    }
  }
  const order = ({ agentId, firstHour }: AgentSums) => (agentId === null ? '' : `${firstHour} ${agentId}`);
  return [...agents.values()].filter(hasRequests).sort((a, b) => (order(a) < order(b) ? -1 : 1));
};
