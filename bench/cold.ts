/**
 * What loading each bundled function costs a cold start, against an empty streaming handler: a process of its own each time, in
 * interleaved rounds of one run. The bundles are those that a deployment would upload.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../lib/bundled-functions.ts';
import { environmentToLoad } from './cold/fakes.ts';
import { median, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const { rounds } = benchOptions('cold', { rounds: 15 });

/** To reach, on the machine of docs/performance.md. */
const TARGETS_MS = [
  ['gateway/', 20],
  ['account-jobs/', 110],
  ['dashboard-api/MachineHandler', 110],
  ['', 80],
] as const;

interface Load {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const LOADER = join(import.meta.dirname, 'cold/load.mjs');

const load = (file: string, env: Readonly<Record<string, string>>): Load => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LOADER, file], { env: { ...env }, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} could not be loaded: ${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Load;
};

const folder = mkdtempSync(join(tmpdir(), 'cold-'));
const empty = join(folder, 'empty.cjs');
writeFileSync(empty, 'exports.handler = awslambda.streamifyResponse(async (_event, stream) => { stream.end(); });');
const subjects = [
  { name: '(empty)', file: empty, env: environmentToLoad({}) },
  ...bundleFunctions(folder).map(({ name, file, environment }) => ({
    name,
    file,
    env: environmentToLoad(environment),
  })),
];

const loads = new Map<string, Load[]>(subjects.map(({ name }) => [name, []]));
for (let n = 0; n < rounds; n++) for (const { name, file, env } of subjects) loads.get(name)?.push(load(file, env));

const results = subjects.map(({ name, file }) => {
  const all = loads.get(name) ?? [];
  const wall = all.map(({ wallMs }) => wallMs);
  return {
    function: name,
    kB: rounded(statSync(file).size / 1_024, 1),
    p50Ms: rounded(median(wall), 1),
    minMs: rounded(Math.min(...wall), 1),
    cpuP50Ms: rounded(median(all.map(({ cpuMs }) => cpuMs)), 1),
  };
});
rmSync(folder, { recursive: true });
const emptyMs = results[0]?.p50Ms ?? Number.NaN;
report(
  'cold',
  { rounds },
  results.map((result) => ({
    ...result,
    timesEmpty: Math.round(result.p50Ms / emptyMs),
    targetMs: TARGETS_MS.find(([name]) => result.function.startsWith(name))?.[1],
  })),
);
