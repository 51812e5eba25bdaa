import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';

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

/** A script that npm starts, as `npm start` does. Resolves with the script's own process. */
const startScript = async (): Promise<{ readonly npm: ChildProcess; readonly ended: Promise<string> }> => {
  const module = join(import.meta.dirname, '../../local/run-until-signal.ts');
  writeFileSync(
    join(folder, 'start.mts'),
    `import { runUntilSignal } from ${JSON.stringify(module)};
     const open = setInterval(() => {}, 1_000);
     await runUntilSignal(async () => {
       console.log('pid', process.pid, '.');
       return async () => { clearInterval(open); console.log('stopped'); };
     });`,
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
  await isStarted;
  return { npm, ended };
};

it.each(['SIGTERM', 'SIGKILL'] as const)('ends with the npm that started it: %s', async (signal) => {
  const { npm, ended } = await startScript();
  npm.kill(signal);
  expect(await ended).toContain('stopped');
});
