import { availableParallelism, cpus, loadavg } from 'node:os';
import { z } from 'zod';
import { flag, readOptions } from '../../ops/command.ts';
import { onlyOption } from '../only-option.ts';
import { SEED } from '../seed.ts';
import { allowancesGroup, budgetsGroup } from './budgets/group.ts';
import { clientGroup } from './client/group.ts';
import { fuzzGroup } from './hostile/fuzz.ts';
import { hostileGroup } from './hostile/group.ts';
import { killGroup } from './kill/group.ts';
import { ledgerGroup } from './ledger/group.ts';
import { memoryGroup } from './memory/group.ts';
import { messagesGroup } from './messages/group.ts';
import { rightsGroup } from './rights/group.ts';
import type { ScenarioGroup } from './scenario.ts';
import { secretsGroup } from './secrets/group.ts';
import { serverGroup } from './server/group.ts';
import { sinksGroup } from './sinks/group.ts';
import { storageGroup } from './storage/group.ts';
import { transportNames } from './transports.ts';
import { upstreamGroup } from './upstream/group.ts';

const USAGE = `npm run faults [-- [--only TEXT] [--json]]

Runs every scenario at full scale and prints a line for each, and a summary. This takes some twenty minutes; "npm run test:faults" runs them at
small scale. The moments of kills and the fuzzed requests and responses are random: the first line has the seed, and the environment
variable TEST_SEED repeats it.

  --only TEXT   runs those whose "group: name" matches this regular expression, in upper or lower case
  --json        prints one line of JSON at the end, as in bench/results/faults.json`;

interface Result {
  readonly group: string;
  readonly name: string;
  readonly seen: string;
  readonly failed: boolean;
  readonly tookMs: number;
}

// biome-ignore lint/suspicious/noExplicitAny: each group is run with the context it opens itself.
const groups: readonly ScenarioGroup<any>[] = [
  ledgerGroup,
  storageGroup,
  budgetsGroup,
  allowancesGroup,
  messagesGroup,
  killGroup,
  secretsGroup,
  rightsGroup,
  memoryGroup,
  sinksGroup,
  ...transportNames.map(upstreamGroup),
  ...transportNames.map(clientGroup),
  serverGroup,
  ...transportNames.map(hostileGroup),
  ...transportNames.map(fuzzGroup),
];

const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? '';
};

const values = readOptions({ usage: USAGE, schema: z.object({ only: onlyOption, json: flag }) });

const lineOf = ({ name, seen, failed, tookMs }: Result): string =>
  `  ${failed ? '✗' : '✓'} ${name.padEnd(78)} ${`${tookMs} ms`.padStart(9)}  ${seen}`;

const machine = (): string => {
  const [load = 0] = loadavg();
  return `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node.js ${process.version}, load ${load.toFixed(1)}`;
};

const runGroup = async (group: ScenarioGroup<unknown>, only: RegExp): Promise<Result[]> => {
  const chosen = group.scenarios.filter(({ name }) => only.test(`${group.title}: ${name}`));
  if (chosen.length === 0) return [];
  console.log(`\n${group.title}`);
  const context = await group.open('full');
  const results: Result[] = [];
  for (const { name, run } of chosen) {
    const startedAt = performance.now();
    const seen = await run(context, 'full').then(
      (text) => ({ seen: text, failed: false }),
      (error: unknown) => ({ seen: reasonOf(error), failed: true }),
    );
    const result = { group: group.title, name, ...seen, tookMs: Math.round(performance.now() - startedAt) };
    console.log(lineOf(result));
    results.push(result);
  }
  await group.close(context);
  return results;
};

const summary = (results: readonly Result[]): void => {
  console.log('\nSummary');
  for (const [group, ofGroup] of Map.groupBy(results, ({ group }) => group)) {
    const failed = ofGroup.filter((result) => result.failed);
    const seconds = ofGroup.reduce((sum, { tookMs }) => sum + tookMs, 0) / 1_000;
    console.log(
      `  ${failed.length === 0 ? '✓' : '✗'} ${group.padEnd(50)} ${String(ofGroup.length - failed.length).padStart(4)} of ${String(ofGroup.length).padStart(4)} hold  ${seconds.toFixed(1).padStart(7)} s`,
    );
    for (const { name, seen } of failed) console.log(`      ${name}: ${seen}`);
  }
};

/** What was seen, by group and name. */
const groupsOf = (results: readonly Result[]) =>
  Object.fromEntries(
    [...Map.groupBy(results, ({ group }) => group)].map(([group, ofGroup]) => [
      group,
      Object.fromEntries(ofGroup.map(({ name, seen, failed }) => [name, failed ? `fails: ${seen}` : seen])),
    ]),
  );

const at = new Date().toISOString();
const on = machine();
console.log(`${at}, ${on}, TEST_SEED=${SEED}`);
const results: Result[] = [];
for (const group of groups) results.push(...(await runGroup(group, values.only)));
if (results.length === 0) {
  console.error(`No scenario matches "${values.only.source}".`);
  process.exit(1);
}
summary(results);
if (values.json) console.log(JSON.stringify({ at, machine: on, seed: SEED, groups: groupsOf(results) }));
process.exit(results.some(({ failed }) => failed) ? 1 : 0);
