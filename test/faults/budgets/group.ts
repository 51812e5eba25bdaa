import { SEED } from '../../seed.ts';
import type { Scale, ScenarioGroup } from '../scenario.ts';
import { playRequests } from './play-requests.ts';
import { playStreams } from './play-streams.ts';

const REQUESTS: Record<Scale, number> = { quick: 10_000, full: 1_000_000 };

export const budgetsGroup: ScenarioGroup<null> = {
  title: 'Budgets',
  timeoutMs: 120_000,
  open: async () => null,
  close: async () => {},
  scenarios: [
    { name: 'reservations against a model', run: (_, scale) => playRequests(SEED, REQUESTS[scale]) },
    {
      name: '1,000 streams at once, $1 reserved, with max_tokens',
      fullOnly: true,
      run: () => playStreams({ enforcement: 'reserved', maxTokens: 1_000 }),
    },
    {
      name: '1,000 streams at once, $1 reserved, without max_tokens',
      fullOnly: true,
      run: () => playStreams({ enforcement: 'reserved', maxTokens: null }),
    },
    {
      name: '1,000 streams at once, $1 lagging',
      fullOnly: true,
      run: () => playStreams({ enforcement: 'lagging', maxTokens: 1_000 }),
    },
  ],
};
