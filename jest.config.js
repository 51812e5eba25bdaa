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
  // Much of the suite waits for emulators: Jest's own choice, one worker on two cores, leaves them idle.
  maxWorkers: '100%',
};
