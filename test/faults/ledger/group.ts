import { SEED } from '../../seed.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';
import { playHistory, type Theme } from './history.ts';

/** Histories of a scenario, each with a seed of its own. */
const HISTORIES: Record<Scale, number> = { quick: 1, full: 3 };

const size: Record<Scale, Pick<Theme, 'phases' | 'requests' | 'recorders' | 'queries'>> = {
  quick: { phases: 2, requests: 40, recorders: 2, queries: 4 },
  full: { phases: 5, requests: 120, recorders: 4, queries: 12 },
};

const theme: Omit<Theme, keyof (typeof size)['full']> = {
  chances: { throttled: 40, conflicts: 60, lost: 20, killed: 6 },
  held: 200,
  accounts: 2,
  maxStepDays: 4,
  tags: 30,
  usedSlots: [0],
  late: 100,
  repeated: 300,
  reprices: false,
  sharded: 300,
};

const scenario = (
  name: string,
  special: Partial<Theme>,
  options: Pick<Scenario<null>, 'fullOnly'> = {},
): Scenario<null> => ({
  name,
  ...options,
  run: async (_, scale) => {
    const seen: string[] = [];
    for (let n = 0; n < HISTORIES[scale]; n++)
      seen.push(await playHistory(SEED + n, { ...size[scale], ...theme, ...special }));
    return seen.join('; ');
  },
});

export const ledgerGroup: ScenarioGroup<null> = {
  title: 'Ledger against a model',
  open: async () => null,
  close: async () => {},
  scenarios: [
    scenario('everything at once', {
      late: 300,
      reprices: true,
      usedSlots: [0, 990, 1_740],
      maxStepDays: 20,
      sharded: 700,
    }),
    scenario('recorders that die over a table that fails', {}, { fullOnly: true }),
    scenario('transactions that stand still past midnight', { held: 600, late: 0 }, { fullOnly: true }),
    scenario(
      'late events, repricing, changed plans, expired items',
      { late: 500, repeated: 600, reprices: true, maxStepDays: 40 },
      { fullOnly: true },
    ),
    scenario(
      'names past every limit of a day',
      { usedSlots: [0, 240, 990, 1_240, 1_490, 1_740], tags: 60 },
      { fullOnly: true },
    ),
    scenario(
      'months that are sharded while they are written and closed',
      { sharded: 900, held: 400, late: 300, repeated: 600, reprices: true, maxStepDays: 6 },
      { fullOnly: true },
    ),
    // Two thousand requests make more than a thousand tags in the month of the first phase.
    scenario(
      'names past the limit of a month',
      { accounts: 1, requests: 2_000, tags: 20_000, late: 0, phases: 2 },
      { fullOnly: true },
    ),
  ],
};
