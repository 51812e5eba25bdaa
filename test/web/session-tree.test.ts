import { describe, expect, it } from '@jest/globals';
import type { SessionAgent } from '../../web/src/api/responses.ts';
import { agentTree } from '../../web/src/client-sessions/tree.ts';

const agent = (agentId: string | null, parentAgentId: string | null = null) =>
  ({ agentId, parentAgentId }) as SessionAgent;
const shown = (...agents: SessionAgent[]) => agentTree(agents).map((node) => `${node.depth} ${node.agent.agentId}`);

describe('the tree of a session', () => {
  it('has each agent below the one that started it', () => {
    expect(shown(agent(null), agent('a'), agent('b'), agent('a1', 'a'), agent('a2', 'a'), agent('a11', 'a1'))).toEqual([
      ...['0 null', '1 a', '2 a1', '3 a11', '2 a2', '1 b'],
    ]);
  });

  it('shows agents whose parent sent nothing, and those that name each other, once', () => {
    expect(shown(agent('a'), agent('b', 'gone'), agent('b1', 'b'))).toEqual(['0 a', '0 b', '1 b1']);
    expect(shown(agent(null), agent('x', 'y'), agent('y', 'x'), agent('z', 'z')).sort()).toEqual([
      ...['0 null', '0 x', '0 z', '1 y'],
    ]);
    expect(shown()).toEqual([]);
  });
});
