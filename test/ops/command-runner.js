/** Runs commands one after another in one process: one for each would load the same modules again, half a second of a processor. */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const LIMIT_MS = 60_000;
const { argv, stdout, stderr } = process;
let runs = 0;
let result;
stdout.write = (text) => {
  result.stdout += text;
};
stderr.write = (text) => {
  result.stderr += text;
};
process.exit = (code) => {
  result.code ??= code;
  throw new Error('exit');
};

process.on('message', async ({ file, args, env, input, cwd }) => {
  result = { stdout: '', stderr: '' };
  process.argv = [argv[0], file, ...args];
  process.exitCode = 0;
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  // Each import runs the command again; what it imports itself is loaded once.
  const ended = import(`${pathToFileURL(file)}?${runs++}`).then(
    () => process.exitCode,
    (error) => String(error),
  );
  const end = await Promise.race([ended, sleep(LIMIT_MS, 'It goes on.', { ref: false })]);
  result.code ??= end;
  process.exitCode = 0;
  process.send(result);
});
