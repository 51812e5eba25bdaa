import { writeFile } from 'node:fs/promises';

/** What the commands of docs/runbook.md take from the environment, in addition to the endpoints of the emulators. */
const NAMES = [
  'TABLE_NAME',
  'USAGE_QUEUE_URL',
  'USER_POOL_ID',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
];

/**
 * Writes a file that a shell reads with `.`, after which those commands work on this stack. Its values are names and addresses on
 * this machine, none of them secret.
 *
 * @param environment of functions that know table, queue and user pool
 */
export const writeCommandsFile = (file: string, environment: Readonly<Record<string, string>>): Promise<void> => {
  const needed = Object.entries(environment).filter(
    ([name]) => NAMES.includes(name) || name.startsWith('AWS_ENDPOINT_URL'),
  );
  const lines = needed.map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
  return writeFile(file, lines.join(''));
};
