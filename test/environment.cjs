const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: pause } = require('node:timers/promises');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const CLOSING_WAITS = 500;
const CLOSING_WAIT_MS = 20;

/** Code that this process compiled for earlier files of tests, by file: most of what a test loads, another has loaded. */
const compiled = new Map();

/** What V8 made of the same code before. V8 itself compares only its length. */
const cachedDataOf = (file, code) => (compiled.get(file)?.code === code ? compiled.get(file).cachedData : undefined);

const { compileFunction, SourceTextModule } = vm;

vm.compileFunction = (code, parameters, options) => {
  const cachedData = cachedDataOf(options.filename, code);
  const result = compileFunction(code, parameters, { ...options, cachedData, produceCachedData: !cachedData });
  if (!cachedData) compiled.set(options.filename, { code, cachedData: result.cachedData });
  return result;
};

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const cachedData = cachedDataOf(options.identifier, code);
    super(code, { ...options, cachedData });
    if (!cachedData) compiled.set(options.identifier, { code, cachedData: this.createCachedData() });
  }
};

/**
 * Jest's environment for Node, whose global object is one of V8's own. Jest takes a Proxy, which each use of a global such as `Object` goes
 * through: thirty times slower. All of these tests take a quarter less of processor time. `tmpdir()` is a folder of its own for each file
 * of tests, which is removed after them. A file that leaves a socket, server, timer or process open is named: it keeps Jest's worker from
 * its end. It does not fail: a scenario that a slow machine makes try again may leave something.
 *
 * @see https://nodejs.org/api/vm.html#vmconstantsdont_contextify
 */
module.exports = class extends TestEnvironment {
  openBefore = process.getActiveResourcesInfo();

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
    this.file = context.testPath;
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
    // What has been closed may take a moment on a busy machine.
    for (let waits = 0; this.leftOpen().length > 0; waits += 1) {
      if (waits === CLOSING_WAITS) {
        process.stderr.write(`Still open after ${this.file}: ${this.leftOpen().join(', ')}.\n`);
        return;
      }
      await pause(CLOSING_WAIT_MS);
    }
  }

  leftOpen() {
    const open = process.getActiveResourcesInfo();
    for (const each of this.openBefore) if (open.includes(each)) open.splice(open.indexOf(each), 1);
    return open;
  }

  /** A file of tests may set `describeFailure`, which runs before the failed test is cleaned up. */
  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure') await this.global.describeFailure?.();
  }
};
