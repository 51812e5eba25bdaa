import { writeFileAtomically } from '../emulators/atomic-file.ts';

/** The variables that commands of docs/runbook.md read, in addition to the endpoints of the emulators. */
const NAMES = [
  'TABLE_NAME',
  'USAGE_QUEUE_URL',
  'USER_POOL_ID',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
];

/**
 * Writes a file that a shell reads with `.`, after which those commands work on this stack. It has the secret that the emulators
 * ask for, so only this user may read it.
 *
 * @param environment of functions that know table, queue and user pool
 */
export const writeCommandsFile = (file: string, environment: Readonly<Record<string, string>>): void => {
  const needed = Object.entries(environment).filter(
    ([name]) => NAMES.includes(name) || name.startsWith('AWS_ENDPOINT_URL'),
  );
  const lines = needed.map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
  writeFileAtomically(file, lines.join(''), 0o600);
};
