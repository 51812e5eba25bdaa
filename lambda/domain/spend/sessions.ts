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
interface Activity {
  counters: Counters;
  firstHour: Hour;
  lastHour: Hour;
  readonly clients: string[];
}

export interface AgentSums extends Readonly<Activity> {
  readonly agentId: string | null;
  readonly parentAgentId: string | null;
}

export interface SessionSums extends Readonly<Activity> {
  readonly sessionId: string;
  /** Ids of its agents; null is the main agent. */
  readonly agents: readonly (string | null)[];
}

const include = <T>(list: T[], value: T): void => {
  if (!list.includes(value)) list.push(value);
};

/** Adds up session counters, as they come. @param by what the sums are of */
export const sessionSums = (by: 'sessionId' | 'agentId') => {
  type Sums = Activity & {
    sessionId: string;
    agents: (string | null)[];
    agentId: string | null;
    parentAgentId: string | null;
  };
  const sums = new Map<string | null, Sums>();
  return {
    add: ({ keyId: _, client, ...counter }: SessionCounter): void => {
      const sum = sums.get(counter[by]) ?? { ...counter, counters: {}, clients: [], agents: [] };
      sums.set(counter[by], sum);
      sum.counters = addCounters(sum.counters, counter.counters);
      if (counter.firstHour < sum.firstHour) sum.firstHour = counter.firstHour;
      if (counter.lastHour > sum.lastHour) sum.lastHour = counter.lastHour;
      sum.parentAgentId ??= counter.parentAgentId;
      if (client !== null) include(sum.clients, client);
      include(sum.agents, counter.agentId);
    },

    /** Those with requests: a counter has none where all moved to another one, or what is left has expired. */
    all: (): Sums[] => [...sums.values()].filter(({ counters }) => (counters.requests ?? 0) > 0),
  };
};

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
  const sums = sessionSums('agentId');
  for (const counter of counters) sums.add(counter);
  const order = ({ agentId, firstHour }: AgentSums) => (agentId === null ? '' : `${firstHour} ${agentId}`);
  return sums.all().sort((a, b) => (order(a) < order(b) ? -1 : 1));
};
