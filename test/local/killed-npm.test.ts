import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { eventually } from '../faults/eventually.ts';

const folder = tmpdir();
const started: number[] = [];
afterAll(() => {
  for (const pid of started) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, as it should.
    }
  }
});

const local = (file: string): string => JSON.stringify(join(import.meta.dirname, '../../local', file));

const RUNNING = `
  const open = setInterval(() => {}, 1_000);
  console.log('pid', process.pid, '.');
  return async () => { clearInterval(open); console.log('stopped'); };`;

/** Synthesizes the templates of an app that is in no hurry, and has started a process. */
const SYNTHESIZING = `
  const { currentAssembly } = await import(${local('synth.ts')});
  await currentAssembly(${JSON.stringify(folder)}, () => {}, interruption);`;
for (const file of ['lib/a', 'bin/a', 'lambda/a', 'docs/openapi.json', 'cdk.json', 'package-lock.json']) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), '');
}
mkdirSync(join(folder, 'node_modules/aws-cdk/bin'), { recursive: true });
const PIDS = join(folder, 'pids');
writeFileSync(
  join(folder, 'node_modules/aws-cdk/bin/cdk'),
  `const app = require('node:child_process').spawn('sleep', ['60']);
   require('node:fs').writeFileSync(${JSON.stringify(PIDS)}, process.pid + ' ' + app.pid + ' .');`,
);

/** A script that npm starts, as `npm start` does. Resolves with the script's own process. */
const startScript = async (
  body = RUNNING,
): Promise<{ readonly npm: ChildProcess; readonly ended: Promise<string> }> => {
  writeFileSync(
    join(folder, 'start.mts'),
    `import { runUntilSignal } from ${local('run-until-signal.ts')};
     await runUntilSignal(async (interruption) => { ${body} });`,
  );
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ scripts: { start: `${process.execPath} --disable-warning=ExperimentalWarning start.mts` } }),
  );
  const npm = spawn('npm', ['start'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const { promise: isStarted, resolve } = Promise.withResolvers<void>();
  npm.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    const [, pid] = /pid (\d+) \./.exec(output) ?? [];
    if (pid === undefined) return;
    if (!started.includes(Number(pid))) started.push(Number(pid));
    resolve();
  });
  // Whoever holds npm's output has ended then: the script too.
  const ended = once(npm.stdout, 'close').then(() => output);
  if (body === RUNNING) await isStarted;
  return { npm, ended };
};

it.each(['SIGTERM', 'SIGKILL'] as const)('ends with the npm that started it: %s', async (signal) => {
  const { npm, ended } = await startScript();
  npm.kill(signal);
  expect(await ended).toContain('stopped');
});

it('takes a second signal that comes at once for the same keystroke', async () => {
  const { ended } = await startScript(`
    const open = setInterval(() => {}, 1_000);
    for (const signal of ['SIGINT', 'SIGTERM']) process.kill(process.pid, signal);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return async () => { clearInterval(open); console.log('stopped'); };`);
  expect(await ended).toContain('stopped');
});

it('ends at once, with all that it started, while the templates are synthesized', async () => {
  const { npm, ended } = await startScript(SYNTHESIZING);
  await eventually(() => existsSync(PIDS) && readFileSync(PIDS, 'utf8').includes('.'), 'the app does not start');
  const pids = readFileSync(PIDS, 'utf8').split(' ').slice(0, 2).map(Number);
  started.push(...pids);
  const signalledAt = Date.now();
  npm.kill('SIGTERM');
  await ended;
  expect(Date.now() - signalledAt).toBeLessThan(30_000);
  await eventually(() => !pids.some((pid) => existsSync(`/proc/${pid}/cwd`)), 'the app runs on');
});

it('stops in good order where nobody reads its output any more', () => {
  writeFileSync(
    join(folder, 'piped.mts'),
    `import { runUntilSignal } from ${local('run-until-signal.ts')};
     await runUntilSignal(async () => {
       const talk = setInterval(() => console.log('on and on'), 20);
       return async () => { clearInterval(talk); console.error('stopped'); };
     });`,
  );
  const line = `${process.execPath} --disable-warning=ExperimentalWarning piped.mts | head -1`;
  const { stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
  expect({ stdout, stderr }).toEqual({ stdout: 'on and on\n', stderr: 'stopped\n' });
});
