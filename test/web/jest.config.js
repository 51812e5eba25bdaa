import base from '../../jest.config.js';

/** The dashboard in a real browser: `npm run test:web`. Not part of `npm test`, which needs none. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/web/**/*.browser.ts'],
  // One stack and one browser at a time is what a small machine can carry.
  maxWorkers: 1,
  testTimeout: 60_000,
};
