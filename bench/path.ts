/** The whole path of a request, in the processes of the fault suite: see test/faults/path.ts for what it measures and its options. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../test/faults/path.ts');
const { status } = spawnSync(process.execPath, [...process.execArgv, file, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
