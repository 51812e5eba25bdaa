import { describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { bundleOptions } from '../../lib/constructs/function-bundle.ts';
import { runOps } from './run-command.ts';

describe('npm run stack-trace', () => {
  it('says where in the sources a place of a bundle is', async () => {
    const options = bundleOptions('lambda/gateway/hosts/handler.ts', '.');
    const [bundle] = buildSync({ ...options, write: false }).outputFiles;
    const lines = (bundle?.text ?? '').split('\n');
    const message = 'The provider interrupted its response';
    const line = lines.findIndex((text) => text.includes(message));
    const column = (lines[line] ?? '').indexOf(message);
    const trace = `Error: it broke\n    at zt (/var/task/index.js:${line + 1}:${column})\n    at node:internal/x:1:2\n    at other (/var/task/index.js:9999999:1)\n`;

    const { code, stdout } = await runOps('stack-trace', ['gateway/Proxy/Function'], { input: trace });
    expect(code).toBe(0);
    expect(stdout).toMatch(/at zt \(lambda\/gateway\/hosts\/handler\.ts:\d+:\d+\)/);
    expect(stdout).toContain('at node:internal/x:1:2');
    // A place that this bundle does not have: another version was checked out.
    expect(stdout).toContain('at other (/var/task/index.js:9999999:1)');
  });

  it('names the functions there are', async () => {
    expect(await runOps('stack-trace', ['gateway/Nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('gateway/Proxy/Function'),
    });
  });
});
