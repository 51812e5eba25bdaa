import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = '4.0.2';
const FOLDER = join(import.meta.dirname, '../../.cache', `aws-lambda-ric-${VERSION}`);
const ENTRY = join(FOLDER, 'node_modules/aws-lambda-ric/index.mjs');
const BUILD_TIMEOUT_MS = 180_000;
const NATIVE_PART = join(FOLDER, 'node_modules/aws-lambda-ric/rapid-client.node');

/**
 * The runtime interface client that Lambda itself runs Node functions with. It is built on first use, next to node_modules: a
 * minute or two that a mere `npm ci` should not take.
 *
 * @returns its entry file
 * @throws Error saying what is missing on this machine
 */
export const runtimeClient = (): string => {
  if (existsSync(NATIVE_PART)) return ENTRY;
  console.warn(`Building aws-lambda-ric ${VERSION} in ${FOLDER}, once. This takes a minute or two.`);
  const { status, stderr, error } = spawnSync(
    'npm',
    ['install', '--prefix', FOLDER, `aws-lambda-ric@${VERSION}`, '--no-audit', '--no-fund', '--ignore-scripts=false'],
    { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS },
  );
  if (status === 0 && existsSync(NATIVE_PART)) return ENTRY;
  throw new Error(
    `aws-lambda-ric could not be built. It needs cmake, make, g++, python3 and the npm registry (Debian: apt install cmake g++ make python3).\n${error?.message ?? stderr}`,
  );
};
