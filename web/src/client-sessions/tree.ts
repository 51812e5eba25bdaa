import type { SessionAgent } from '../api/responses.ts';

export interface AgentNode {
  readonly agent: SessionAgent;
  /** 0 for the main agent, and for an agent whose parent sent nothing. */
  readonly depth: number;
}

/** The agents of a session in the order of its tree: each after the agent that started it. */
export const agentTree = (agents: readonly SessionAgent[]): AgentNode[] => {
  const ids = new Set(agents.map(({ agentId }) => agentId));
  const placed = new Set<SessionAgent>();
  const place = (agent: SessionAgent, depth: number): AgentNode[] => {
    if (placed.has(agent)) return [];
    placed.add(agent);
    const started = agents.filter((each) => each.agentId !== null && each.parentAgentId === agent.agentId);
    return [{ agent, depth }, ...started.flatMap((each) => place(each, depth + 1))];
  };
  /** The main agent is first. Last are those whose parents sent nothing in this range, and those that name each other. */
  const rank = ({ agentId, parentAgentId }: SessionAgent): number => {
    if (agentId === null || parentAgentId === null) return agentId === null ? 0 : 1;
    return ids.has(parentAgentId) ? 3 : 2;
  };
  return agents.toSorted((a, b) => rank(a) - rank(b)).flatMap((agent) => place(agent, 0));
};
