interface Group {
  /** Globs of the code that is changed; those that begin with ! leave some out. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are to notice. Jest's realms, processes and whole stacks are no part of a mutation run. */
  readonly tests: readonly string[];
}

export const groups = {
  gateway: {
    mutate: ['lambda/gateway/**/*.ts', '!lambda/gateway/meter/**'],
    // The SDKs' test looks into the realm that Jest makes.
    tests: ['test/gateway/!(sdks).test.ts'],
  },
  meter: { mutate: ['lambda/gateway/meter/**/*.ts'], tests: ['test/gateway/meter/*.test.ts'] },
  ledger: {
    mutate: [
      'lambda/data/{ledger*,cell-claims,parked-events,untracked,request-item,spend*,hour-pages,summary-pages,seals,unsealed}.ts',
      'lambda/domain/spend/**/*.ts',
      'lambda/usage-recorder/**/*.ts',
    ],
    tests: [
      'test/data/{hour-pages,request-item,requests,spend*,summary-pages}.test.ts',
      'test/domain/{spend-report,summary}.test.ts',
      'test/usage-recorder/*.test.ts',
    ],
  },
  evaluator: {
    mutate: ['lambda/rule-evaluator/**/*.ts', 'lambda/domain/alert-rules/**/*.ts'],
    tests: ['test/rule-evaluator/*.test.ts', 'test/domain/alert-rules/*.test.ts'],
  },
} satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;
export const groupNames = Object.keys(groups) as GroupName[];
