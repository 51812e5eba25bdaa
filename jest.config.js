import { randomInt } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

// Compiled code of the commands and processes that tests start: a third of the time that most of them take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'ai-spend-compiled');
// One seed for all workers: test/seed.ts.
process.env.TEST_SEED ??= String(randomInt(2 ** 31));

export default {
  transform: {
    '\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          experimental: { keepImportAttributes: true },
          transform: { react: { runtime: 'automatic' } },
        },
      },
    ],
  },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/fast-check.ts' },
  testEnvironment: '<rootDir>/test/environment.cjs',
  // Code runs slower the more environments its process has had.
  workerIdleMemoryLimit: '600MB',
  // A worker frees its memory before it ends, which takes more than Jest's half second on a busy machine. Jest would call that a leak:
  // test/environment.cjs finds those.
  workerGracefulExitTimeout: 30_000,
  roots: ['<rootDir>/test'],
  // Fault scenarios take long: `npm run test:faults`.
  testMatch: ['**/*.test.ts', '!**/test/faults/*.test.ts'],
  // For a busy machine: on an idle one a test takes seconds at most. One that needs longer has its own timeout, with the reason next to it.
  testTimeout: 300_000,
  // A worker waits a quarter of its time: for emulators, processes, messages that become visible again.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
