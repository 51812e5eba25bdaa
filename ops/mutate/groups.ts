import globs from './groups.json' with { type: 'json' };

interface Group {
  /** Globs of the code that is changed; those that begin with ! leave some out. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are to notice. Jest's realms, processes and whole stacks are no part of a mutation run. */
  readonly tests: readonly string[];
}

/** Left out of every group. It is only wiring, and test/dashboard/over-http runs it. */
export const wiring = [
  'lambda/**/{handler,environment,on-lambda,on-schedule}.ts',
  'lambda/dashboard/{functions/*,{auth/,}open-*,reading,settings,identity}.ts',
];

/** All of lambda and lib, and the web's logic. */
export const groups = globs satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;
export const groupNames = Object.keys(groups) as GroupName[];

export interface RunOptions {
  readonly name: GroupName;
  readonly workers: number;
  readonly static: boolean;
  /** Tries the changes of lines whose number this divides. */
  readonly every: number;
  readonly 'dry-run': boolean;
}
