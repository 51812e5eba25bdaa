/** TypeScript by esbuild, ESM throughout. TypeScript 7 has no JS API, so ts-jest cannot be used. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/esbuild-transform.js' },
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/fast-check.ts' },
  // How long a test takes is no part of what it proves: for a machine many times slower than any of ours.
  testTimeout: 240_000,
};
