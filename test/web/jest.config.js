import base from '../../jest.config.js';

/** The dashboard in a real browser: `npm run test:web`. Not part of `npm test`, which needs none. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/web/**/*.browser.ts'],
  // Built once, before the files that use the pages run at the same time.
  globalSetup: '<rootDir>/test/web/build-pages.ts',
  maxWorkers: 2,
  // For a busy machine, where a dozen pages take minutes; on an idle one a story takes seconds. What is waited for in vain ends earlier:
  // browser/browser.ts.
  testTimeout: 900_000,
  // The run ends even where a process could not be stopped.
  forceExit: true,
};
