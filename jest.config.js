import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

// Compiled code of test files, and of the commands and processes that they start: a third of the time that most of them take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'ai-spend-compiled');

/** Node loads the modules and strips the types: test/runner/native-runner.ts. */
export default {
  transform: {},
  runner: '<rootDir>/test/runner/native-runner.ts',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Ten times what most tests take. A test that needs longer has its own timeout, with the reason next to it.
  testTimeout: 30_000,
  // A worker waits a quarter of its time: for emulators, processes, messages that become visible again.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
