const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/**
 * Jest's environment for Node, whose global object is one of V8's own. Jest takes a Proxy, which each use of a global such as `Object` goes
 * through: thirty times slower. All of these tests take a quarter less of processor time. `tmpdir()` is a folder of its own for each file
 * of tests, which is removed after them.
 *
 * @see https://nodejs.org/api/vm.html#vmconstantsdont_contextify
 */
module.exports = class extends TestEnvironment {
  constructor(config, context) {
    const { TMPDIR } = process.env;
    const folder = mkdtempSync(join(tmpdir(), 'tests-'));
    process.env.TMPDIR = folder;
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
    this.removeFolder = () => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
      // A process that a test killed may still write.
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
  }

  async teardown() {
    await super.teardown();
    this.removeFolder();
  }

  /** A file of tests may set `describeFailure`, which runs before the failed test is cleaned up. */
  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure') await this.global.describeFailure?.();
  }
};
