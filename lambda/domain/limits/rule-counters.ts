import type { KeyInProject } from '../accounts/project.ts';
import type { Range } from '../calendar/range.ts';
import type { SpendCounter } from '../spend/counters.ts';
import { OTHER, type SpendDimensionName, type SpendDimensions } from '../spend/dimensions.ts';
import type { ReadCounters } from '../spend/spend-report.ts';

/** A dimension that rules read spend by. There are no counters by project: a counter's project is that of its key. */
export type RuleDimensionName = SpendDimensionName | 'project';

/** The dimensions of a counter, with its project where it was read by that. */
export type RuleDimensions = SpendDimensions & { readonly project?: string | null };

/** A counter that was read for rules. */
export interface RuleCounter extends SpendCounter {
  readonly dimensions: RuleDimensions;
}

/** Reads the spend counters of a range, ascending by time, by dimensions of rules. */
export type ReadRuleCounters = (
  accountId: string,
  range: Range,
  dimensions: readonly RuleDimensionName[],
) => AsyncIterable<RuleCounter>;

const isCounted = (name: RuleDimensionName): name is SpendDimensionName => name !== 'project';

/** The dimensions that spend is counted by, of some that rules read it by. */
export const countedDimensions = (names: readonly RuleDimensionName[]): SpendDimensionName[] => [
  ...new Set(names.map((name) => (isCounted(name) ? name : 'keyId'))),
];

/**
 * Reads counters by project, too. A key that moves takes its past along.
 *
 * @param listKeys all keys of an account, also revoked ones; called where spend is read by project
 */
export const readByProject = (
  readCounters: ReadCounters,
  listKeys: (accountId: string) => Promise<readonly Pick<KeyInProject, 'keyId' | 'projectId'>[]>,
): ReadRuleCounters => {
  async function* withProject(...[accountId, range, names]: Parameters<ReadRuleCounters>): AsyncGenerator<RuleCounter> {
    const projectOf = new Map((await listKeys(accountId)).map(({ keyId, projectId }) => [keyId, projectId]));
    for await (const counter of readCounters(accountId, range, countedDimensions(names))) {
      const { keyId } = counter.dimensions;
      const project = keyId === OTHER ? OTHER : (projectOf.get(keyId ?? '') ?? null);
      yield { ...counter, dimensions: { ...counter.dimensions, project } };
    }
  }
  return (accountId, range, names) =>
    names.every(isCounted) ? readCounters(accountId, range, names) : withProject(accountId, range, names);
};
