import { globSync, readFileSync } from 'node:fs';
import type { LogLevel } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { groups, type RunOptions, wiring } from './groups.ts';

/** Every Nth line of the files that globs name, as Stryker's ranges. Globs that begin with ! leave files out. */
const linesOf = (globs: readonly string[], every: number): string[] => {
  const leftOut = new Set(globSync(globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))));
  return globSync(globs.filter((glob) => !glob.startsWith('!')))
    .filter((file) => !leftOut.has(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((_, index) => ((index + 1) % every === 0 ? [`${file}:${index + 1}-${index + 1}`] : [])),
    );
};

// A process of its own for one group, since Stryker saves what it knows and exits when it is to stop.
const options: RunOptions = JSON.parse(process.argv[2]!);
const { tests, ...group } = groups[options.name];
const mutate = [...group.mutate, ...wiring.map((glob) => `!${glob}`), '!**/*.d.ts'];
// The same examples for every mutant, and few of them.
process.env['TEST_SEED'] = '20261120';
process.env['TEST_EXAMPLES'] = '0.2';
await new Stryker({
  mutate: options.every > 1 ? linesOf(mutate, options.every) : mutate,
  testRunner: 'jest',
  jest: {
    projectType: 'custom',
    configFile: 'jest.config.js',
    config: {
      testMatch: tests.map((glob) => `<rootDir>/${glob}`),
      // Stryker loads it itself, and knows no <rootDir>.
      testEnvironment: './test/environment.cjs',
    },
    enableFindRelatedTests: false,
  },
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  ignoreStatic: !options.static,
  // Where there is a tsconfig.json, Stryker asks for TypeScript's JS API, which TypeScript 7 has not.
  ignorePatterns: ['.mutate', 'bench', 'cdk.out', 'tsconfig.json', 'web/dist'],
  disableTypeChecks: false,
  tempDirName: `.mutate/${options.name}`,
  incremental: true,
  // A sample does not replace what is known of the whole.
  incrementalFile: `.mutate/${options.name}${options.every > 1 ? `-every-${options.every}` : ''}.json`,
  force: options.every > 1,
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { allowEmojis: false, reportTests: false, logTests: false },
  concurrency: options.workers,
  timeoutMS: 15_000,
  dryRunTimeoutMinutes: 15,
  dryRunOnly: options['dry-run'],
  logLevel: 'error' as LogLevel,
  allowConsoleColors: false,
}).runMutationTest();
