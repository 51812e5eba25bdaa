import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

// Compiled code of the commands and processes that tests start: a third of the time that most of them take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'ai-spend-compiled');

/** TypeScript by esbuild, ESM throughout. TypeScript 7 has no JS API, so ts-jest cannot be used. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/esbuild-transform.js' },
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/fast-check.ts' },
  // Ten times what most tests take. A test that needs longer has its own timeout, with the reason next to it.
  testTimeout: 30_000,
  // A worker waits a quarter of its time: for emulators, processes, messages that become visible again.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
