interface Group {
  /** Globs of the code that is changed; those that begin with ! leave some out. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are to notice. Jest's realms, processes and whole stacks are no part of a mutation run. */
  readonly tests: readonly string[];
}

export const groups = {
  gateway: {
    mutate: ['lambda/gateway/**/*.ts', '!lambda/gateway/meter/**', '!lambda/gateway/hosts/handler.ts'],
    tests: [
      'test/gateway/{environment,faults,gateway}.test.ts',
      'test/gateway/{admission,aws,hosts,protocol,relay,tracking,upstream,websocket}/*.test.ts',
    ],
  },
  meter: { mutate: ['lambda/gateway/meter/**/*.ts'], tests: ['test/gateway/meter/*.test.ts'] },
  // Events to records and counters.
  ledger: {
    mutate: [
      'lambda/data/ledger/*.ts',
      'lambda/data/requests/{counted-responses,request-item}.ts',
      'lambda/domain/spend/{contribution,counters,dimensions,request-record}.ts',
      'lambda/usage-recorder/*.ts',
      '!lambda/usage-recorder/handler.ts',
    ],
    tests: [
      'test/data/ledger/*.test.ts',
      'test/data/requests/request-item.test.ts',
      'test/domain/spend/{contribution,dimensions}.test.ts',
      'test/usage-recorder/{build-record,consume-messages,decide-changes,faults,handlers,observers,overflow,recorder,reprice,tracking-gaps,traffic}.test.ts',
    ],
  },
  // Counters to rollups and reports.
  spend: {
    mutate: [
      'lambda/data/spend/*.ts',
      'lambda/domain/spend/{cost-effects,display-currency,durations,spend-csv,spend-points,spend-report,sum-map,summary,tracking-gaps,unknown-values}.ts',
      'lambda/usage-recorder/{rollup,sweep}/*.ts',
      '!lambda/usage-recorder/**/handler.ts',
    ],
    tests: [
      'test/data/spend/*.test.ts',
      'test/domain/spend/{cost-effects,display-currency,durations,spend-report,summary,tracking-gaps,unknown-values}.test.ts',
      'test/usage-recorder/{overflow,rollup,sessions,sweep}.test.ts',
      'test/dashboard/{dimensions,sessions,spend,spend-export,spend-of-requests,spend-overflow}.test.ts',
    ],
  },
  evaluator: {
    mutate: [
      'lambda/rule-evaluator/*.ts',
      'lambda/domain/{alerts,limits}/*.ts',
      // Wiring: test/dashboard/over-http/walk.test.ts runs it.
      '!lambda/rule-evaluator/{handler,on-lambda,environment,queue-sender}.ts',
    ],
    tests: ['test/rule-evaluator/*.test.ts', 'test/domain/{alerts,limits}/*.test.ts'],
  },
} satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;
export const groupNames = Object.keys(groups) as GroupName[];
