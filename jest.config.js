import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

// Commands and parts of the stack that tests start: compiled once for all, a third of what most of them take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'ai-spend-compiled');

/** TypeScript by esbuild, ESM throughout. TypeScript 7 has no JS API, so ts-jest cannot be used. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/esbuild-transform.js' },
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/fast-check.ts' },
  // How long a test takes is no part of what it proves: for a machine many times slower than any of ours.
  testTimeout: 600_000,
  // A quarter of the time a worker waits: for emulators, for processes, for a message to show again.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
