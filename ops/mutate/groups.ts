interface Group {
  /** Globs of the code that is changed; those that begin with ! leave some out. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are to notice. Jest's realms, processes and whole stacks are no part of a mutation run. */
  readonly tests: readonly string[];
}

/** Left out of every group. It is only wiring, and test/dashboard/over-http runs it. */
export const wiring = [
  'lambda/**/{handler,environment,on-lambda}.ts',
  'lambda/dashboard/{functions/*,open-*,reading,settings}.ts',
];

/** All of lambda and lib, and the web's logic. */
export const groups = {
  gateway: {
    mutate: ['lambda/gateway/**/*.ts', '!lambda/gateway/meter/**'],
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
      'lambda/domain/spend/{contribution,counters,dimensions,request-record}.ts',
      'lambda/usage-recorder/*.ts',
    ],
    tests: [
      'test/data/ledger/*.test.ts',
      'test/domain/spend/{contribution,dimensions}.test.ts',
      'test/usage-recorder/{build-record,consume-messages,decide-changes,faults,handlers,observers,overflow,recorder,reprice,request-judging,tracking-gaps,traffic}.test.ts',
    ],
  },
  // Counters to rollups and reports.
  spend: {
    mutate: [
      'lambda/data/spend/*.ts',
      'lambda/domain/spend/*.ts',
      '!lambda/domain/spend/{contribution,counters,dimensions,request-record}.ts',
      'lambda/usage-recorder/{rollup,sweep}/*.ts',
    ],
    tests: [
      'test/data/spend/*.test.ts',
      'test/domain/spend/*.test.ts',
      'test/usage-recorder/{overflow,rollup,sessions,sweep}.test.ts',
      'test/dashboard/{dimensions,sessions,spend,spend-by-project,spend-change,spend-export,spend-of-requests,spend-overflow}.test.ts',
    ],
  },
  // Request records: the log, and the days that leave the table.
  requests: {
    mutate: ['lambda/data/{exports,requests}/*.ts', 'lambda/domain/exports/*.ts', 'lambda/exporter/*.ts'],
    tests: [
      'test/data/requests/*.test.ts',
      'test/domain/exports/*.test.ts',
      'test/exporter/*.test.ts',
      'test/dashboard/{exports,requests}.test.ts',
    ],
  },
  evaluator: {
    mutate: ['lambda/rule-evaluator/*.ts', 'lambda/data/alerts/*.ts', 'lambda/domain/{alerts,limits}/*.ts'],
    tests: [
      'test/rule-evaluator/*.test.ts',
      'test/domain/{alerts,limits}/*.test.ts',
      'test/dashboard/{alert-rules,alerts,budgets,pauses}.test.ts',
      'test/gateway/relay/{budgets,reserve}.test.ts',
    ],
  },
  prices: {
    mutate: [
      'lambda/data/prices/*.ts',
      'lambda/domain/{own-prices,price,usage}/**/*.ts',
      'lambda/price-feed/*.ts',
      'lambda/usage-recorder/{own-prices,repricing}/*.ts',
    ],
    tests: [
      'test/domain/{own-prices,price,usage}/*.test.ts',
      'test/price-feed/*.test.ts',
      'test/usage-recorder/{own-prices,reprice}.test.ts',
    ],
  },
  reports: {
    mutate: [
      'lambda/data/{reconciliation,reports}/*.ts',
      'lambda/domain/{calendar,reconciliation,reports,savings}/*.ts',
    ],
    tests: [
      'test/domain/{calendar,reconciliation,reports,savings}/*.test.ts',
      'test/account-jobs/read-bill.test.ts',
      'test/dashboard/{reconciliation,reports}.test.ts',
    ],
  },
  accounts: {
    mutate: [
      'lambda/data/{accounts,billing,table}/*.ts',
      'lambda/domain/{accounts,billing,mail}/*.ts',
      'lambda/domain/*.ts',
      'lambda/{account-jobs,mail-feedback}/*.ts',
    ],
    tests: [
      'test/data/{accounts,billing,table}/*.test.ts',
      'test/domain/{accounts,billing}/*.test.ts',
      'test/domain/*.test.ts',
      'test/{account-jobs,mail-feedback}/*.test.ts',
      'test/dashboard/{account,audit,auth,billing,keys,members,register,sign-on,tokens,views}.test.ts',
    ],
  },
  api: {
    mutate: ['lambda/http/*.ts', 'lambda/dashboard/**/*.ts'],
    tests: ['test/http/*.test.ts', 'test/dashboard/*.test.ts', 'test/dashboard/stripe-webhook/*.test.ts'],
  },
  integrations: {
    mutate: ['lambda/integrations/**/*.ts'],
    tests: ['test/integrations/**/*.test.ts', 'test/dashboard/{auth,billing}.test.ts'],
  },
  lib: { mutate: ['lib/**/*.ts'], tests: ['test/lib/app.test.ts'] },
  web: { mutate: ['web/src/**/*.ts'], tests: ['test/web/*.test.ts'] },
} satisfies Record<string, Group>;

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

/** Changes of a group. A sample's does not replace it. */
export const reportFile = ({ name, every }: Pick<RunOptions, 'name' | 'every'>): string =>
  `.mutate/${name}${every > 1 ? `-every-${every}` : ''}.json`;
