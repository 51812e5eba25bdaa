import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const check = (version: string) =>
  spawnSync(process.execPath, [
    '--input-type=module',
    '--eval',
    `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
     await import(${JSON.stringify(join(import.meta.dirname, '../../local/check-node.js'))});`,
  ]);

describe('the check of the Node version', () => {
  it.each(['18.20.8', '20.20.2', '22.18.0'])('%s is too old, and the message says what to do', (version) => {
    const { status, stderr } = check(version);
    expect(status).toBe(1);
    expect(String(stderr)).toContain(`Node ${version} is too old`);
    expect(String(stderr)).toContain('npm start');
    expect(String(stderr).trim().split('\n')).toHaveLength(1);
  });

  it.each(['22.19.0', '24.21.0'])('%s will do', (version) => {
    expect(check(version).status).toBe(0);
  });
});
