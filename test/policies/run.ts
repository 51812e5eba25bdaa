import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import openapi from '../../docs/openapi.json' with { type: 'json' };
import { readAssembly } from '../../local/host/template/assembly.ts';
import { createResolver } from '../../local/host/template/intrinsics.ts';
import { currentAssembly } from '../../local/synth.ts';
import { readOptions } from '../../ops/command.ts';
import { policiesOf } from './judge.ts';
import { reasonOf, uncallable } from './never-used.ts';

const USAGE = `npm run policies

Runs all tests over HTTP, and further calls, with each call of AWS judged by the policy of the function that made it. Lists the
permissions that none of them used, with the reason each is granted. Exits 1 where a call was refused, a permission has no reason,
or no call reached an operation of the API. This takes some four minutes.`;
readOptions({ usage: USAGE, schema: z.object({}) });

const folder = mkdtempSync(join(tmpdir(), 'policies-'));
const file = join(folder, 'used');
const { status } = spawnSync(
  'npm',
  [
    'test',
    '--',
    '--maxWorkers=2',
    '--testMatch',
    '**/over-http/*.test.ts',
    '--testMatch',
    '**/test/policies/*.drive.ts',
  ],
  { stdio: 'inherit', env: { ...process.env, POLICIES_USED: file } },
);
const used = new Set(readFileSync(file, 'utf8').split('\n'));
rmSync(folder, { recursive: true });

const stacks = readAssembly(await currentAssembly(join(import.meta.dirname, '../..'), () => {}));
const granted = new Set(policiesOf({ stacks, resolve: createResolver(stacks, '') }).grants);
const unused = [...granted].filter((grant) => !used.has(grant));
const operationIds = Object.values(openapi.paths).flatMap((methods) =>
  Object.values(methods).map(({ operationId }) => operationId),
);
const unreached = operationIds.filter((name) => !used.has(`operation ${name}`) && !(name in uncallable));
const withoutReason = unused.filter((grant) => reasonOf(grant) === undefined);
for (const [reason, grants] of Map.groupBy(unused, (grant) => reasonOf(grant) ?? 'NO REASON'))
  console.log(`\n${reason}\n${grants.map((grant) => `  ${grant}`).join('\n')}`);
console.log(`\nOperations of the API that no call reached: ${unreached.join(', ') || 'none'}`);
console.log(
  `\n${granted.size} permissions, ${granted.size - unused.length} used, ${unused.length} not, ${withoutReason.length} of these without a reason. ${status === 0 ? 'No call was refused.' : 'The tests failed: see above.'}`,
);
process.exitCode = status === 0 && withoutReason.length === 0 && unreached.length === 0 ? 0 : 1;
