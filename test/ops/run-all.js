/** Runs commands that end before they do anything, all in one process: one for each would load the same modules sixty times. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const { stdout, stderr, exit } = process;
const write = stdout.write.bind(stdout);
const results = [];
for (const [index, { file, args, env = {} }] of JSON.parse(process.argv[2]).entries()) {
  const result = { stdout: '', stderr: '' };
  results.push(result);
  process.argv = [process.execPath, file, ...args];
  process.exitCode = 0;
  Object.assign(process.env, env);
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
  // Each import runs the command again; what it imports itself is loaded once.
  const ended = import(`${pathToFileURL(file)}?${index}`).then(
    () => process.exitCode,
    (error) => String(error),
  );
  const end = await Promise.race([ended, sleep(10_000, 'It goes on.')]);
  result.code ??= end;
  for (const name of Object.keys(env)) delete process.env[name];
}
write(JSON.stringify(results));
exit.call(process, 0);
