/** TypeScript by esbuild, ESM throughout. TypeScript 7 has no JS API, so ts-jest cannot be used. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/esbuild-transform.js' },
  testTimeout: 30_000,
};
