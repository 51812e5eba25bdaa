interface Group {
  /** Globs of the code that is changed; those that begin with ! leave some out. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are to notice. Jest's realms, processes and whole stacks are no part of a mutation run. */
  readonly tests: readonly string[];
}

export const groups = {
  gateway: {
    mutate: ['lambda/gateway/**/*.ts', '!lambda/gateway/meter/**', '!lambda/gateway/hosts/handler.ts'],
    tests: ['test/gateway/{admission,aws,hosts,protocol,relay,tracking,upstream}/*.test.ts'],
  },
  meter: { mutate: ['lambda/gateway/meter/**/*.ts'], tests: ['test/gateway/meter/*.test.ts'] },
  ledger: {
    mutate: [
      'lambda/data/{ledger,spend}/*.ts',
      'lambda/data/requests/request-item.ts',
      'lambda/domain/spend/*.ts',
      'lambda/usage-recorder/**/*.ts',
      '!lambda/usage-recorder/**/handler.ts',
    ],
    tests: [
      'test/data/{ledger,requests,spend}/*.test.ts',
      'test/domain/spend/*.test.ts',
      'test/usage-recorder/*.test.ts',
    ],
  },
  evaluator: {
    mutate: ['lambda/rule-evaluator/*.ts', 'lambda/domain/alert-rules/*.ts', '!lambda/rule-evaluator/handler.ts'],
    tests: ['test/rule-evaluator/*.test.ts', 'test/domain/alert-rules/*.test.ts'],
  },
} satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;
export const groupNames = Object.keys(groups) as GroupName[];
