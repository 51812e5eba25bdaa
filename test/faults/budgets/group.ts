import { SEED } from '../../seed.ts';
import type { Scale, ScenarioGroup } from '../scenario.ts';
import { playOverlapping } from './play-overlapping.ts';
import { playRequests } from './play-requests.ts';
import { playStreams } from './play-streams.ts';
import { playValues } from './play-values.ts';

/** Requests at each rate, and what each has for its reservations: at full scale what the gateway gives it. */
const OVERLAPPING: Record<Scale, readonly [requests: number, timeoutMs: number]> = {
  quick: [100, 60_000],
  full: [1_000, 2_000],
};
const REQUESTS: Record<Scale, number> = { quick: 10_000, full: 1_000_000 };

export const budgetsGroup: ScenarioGroup<null> = {
  title: 'Budgets',
  open: async () => null,
  close: async () => {},
  scenarios: [
    { name: 'reservations against a model', run: (_, scale) => playRequests(SEED, REQUESTS[scale]) },
    {
      name: 'two overlapping budgets and one limit for each user, writes that conflict',
      run: (_, scale) => playOverlapping(SEED, ...OVERLAPPING[scale]),
    },
    {
      name: '1,000 streams at once, $1 reserved, with max_tokens',
      fullOnly: true,
      run: () => playStreams({ enforcement: 'reserved', maxTokens: 1_000 }),
    },
    {
      name: '1,000 streams at once, $1 and $0.75 reserved',
      fullOnly: true,
      run: () => playStreams({ enforcement: 'reserved', maxTokens: 1_000, amountsUsd: [1, 0.75] }),
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

/** Values of a limit of each, and requests. */
const VALUES: Record<Scale, readonly [values: number, requests: number]> = {
  quick: [100, 6_000],
  full: [10_000, 1_000_000],
};

export const allowancesGroup: ScenarioGroup<null> = {
  ...budgetsGroup,
  title: 'Allowances',
  scenarios: [
    { name: 'each of many values, reserved', run: (_, scale) => playValues(SEED, 'reserved', ...VALUES[scale]) },
    { name: 'each of many values, lagging', run: (_, scale) => playValues(SEED, 'lagging', ...VALUES[scale]) },
  ],
};
