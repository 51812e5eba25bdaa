import base from '../../jest.config.js';

/** The dashboard in a real browser: `npm run test:web`. Not part of `npm test`, which needs none. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/web/**/*.browser.ts'],
  maxWorkers: 1,
  // For a machine that does much else at the same time; by itself a story takes seconds.
  testTimeout: 180_000,
  // Whatever could not be stopped must not keep the run from ending.
  forceExit: true,
};
