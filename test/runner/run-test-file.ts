import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Sent } from './native-runner.ts';

/** The process of one test file: receives its path and Jest's configuration, sends its result, and ends. */

const substitutes: Record<string, string> = {
  '@jest/globals': new URL('jest-globals.ts', import.meta.url).href,
  'fast-check': new URL('../fast-check.ts', import.meta.url).href,
};

registerHooks({
  resolve: (specifier, context, next) => {
    const url = substitutes[specifier];
    return url ? { url, shortCircuit: true } : next(specifier, context);
  },
});

const require = createRequire(import.meta.url);
const importFile = (file: string): Promise<unknown> => import(pathToFileURL(file).href);

/** What jest-circus asks of Jest's module system, by Node's. */
const runtime = {
  requireInternalModule: require,
  requireModule: require,
  setGlobalsForRuntime: () => {},
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: importFile,
  enterTestCode: () => {},
  leaveTestCode: () => {},
};

const send = (sent: Sent, whenSent?: () => void): void => void process.send?.(sent, undefined, undefined, whenSent);
const exit = () => process.exit();

setInterval(send, 1_000, 'alive').unref();

process.once('disconnect', exit);
process.once(
  'message',
  async ({ path, config, globalConfig }: { path: string; config: object; globalConfig: object }) => {
    try {
      const runTests = require('jest-circus/runner').default;
      const result = await runTests(globalConfig, config, { global: globalThis }, runtime, path);
      // A copy in JSON: errors may have members that no process can send.
      send({ result: JSON.parse(JSON.stringify(result)) }, exit);
    } catch (error) {
      const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
      send({ error: { message, stack } }, exit);
    }
  },
);
