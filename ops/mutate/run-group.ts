import { globSync } from 'node:fs';
import type { LogLevel } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { groups } from './groups.ts';
import { type RunOptions, reportFile } from './run-options.ts';

// A process of its own for one group, since Stryker saves what it knows and exits when it is to stop.
const options: RunOptions = JSON.parse(process.argv[2]!);
const { mutate, tests } = groups[options.name];
process.env['MUTATE_EVERY'] = String(options.every);
process.env['MUTATE_TESTS'] = JSON.stringify(globSync(tests).sort());
await new Stryker({
  mutate: [...mutate, '!**/*.d.ts'],
  plugins: [new URL('runner.ts', import.meta.url).pathname],
  testRunner: 'in-process',
  testRunnerNodeArgs: ['--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  ignoreStatic: !options.static,
  // Where there is a tsconfig.json, Stryker asks for TypeScript's JS API, which TypeScript 7 has not.
  ignorePatterns: ['.mutate', 'bench', 'bin', 'container', 'docs', 'web', 'tsconfig.json'],
  disableTypeChecks: false,
  tempDirName: `.mutate/${options.name}`,
  incremental: true,
  incrementalFile: reportFile(options),
  force: options.every > 1,
  reporters: ['progress-append-only'],
  concurrency: options.workers,
  timeoutMS: 15_000,
  dryRunTimeoutMinutes: 15,
  dryRunOnly: options['dry-run'],
  logLevel: 'error' as LogLevel,
  allowConsoleColors: false,
}).runMutationTest();
