/** The tables of docs/performance.md, from the results in bench/results. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

type Figures = Readonly<Record<string, number | string>>;

const markdownTable = ([head = [], ...body]: readonly (readonly string[])[]): string =>
  [head, head.map(() => '-'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A file of bench/results. */
interface Result {
  readonly at: string;
  readonly results: readonly Figures[] | Readonly<Record<string, readonly Figures[]>>;
  /** Of `path` alone. */
  readonly parts?: readonly Figures[];
  readonly queueCallsPerRequest?: number;
}
type Results = Readonly<Record<string, Result>>;

interface Row {
  readonly bench: string;
  readonly what: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** A number, or one with its confidence interval: `0.45 [0.43, 0.47]`. */
  readonly figure: (result: Result) => number | string | undefined;
}

const rowsOf = ({ results }: Result, title?: string): readonly Figures[] =>
  title === undefined
    ? (results as readonly Figures[])
    : ((results as Record<string, readonly Figures[]>)[title] ?? []);

const LOAD = '2 KB each way, 64 connection(s)';
const PACED = 'added at 50 requests a second, ms';
const FIRST_BYTE = 'added to the first byte where the origin takes 20 ms, ms';
const STREAM = 'added to an event of a stream, 100 events, 5 ms apart, ms';
const MEMORY = 'resident memory with 500 idle streams';

const ofProxy = (name: string, title: string, column: string) => (result: Result) =>
  rowsOf(result, title).find(({ proxy }) => proxy === name)?.[column];
const ofGateway = (title: string, column: string) => ofProxy('gateway', title, column);
/** Of the one row whose member has this value. */
const where = (member: string, value: string, column: string) => (result: Result) =>
  rowsOf(result).find((row) => row[member] === value)?.[column];
const lastOf = (column: string, matches: (row: Figures) => boolean) => (result: Result) =>
  rowsOf(result).findLast(matches)?.[column];
const most = (values: readonly unknown[]): number => Math.max(...values.map(Number));
/** The slowest function among those with this target. */
const slowest = (targetMs: number) => (result: Result) =>
  most(
    rowsOf(result).flatMap((row) =>
      row['targetMs'] === targetMs && row['function'] !== '(empty)' ? row['p50Ms'] : [],
    ),
  );
const cpuOfPart = (part: string) => (result: Result) =>
  result.parts?.find((row) => row['part'] === part)?.['CPU ms a request'];

/** Every figure that the page shows, with its target where it has one. */
export const rows: readonly Row[] = [
  {
    bench: 'relay',
    what: 'requests a second with 64 connections, × dispatch',
    atLeast: 0.65,
    figure: ofGateway(LOAD, 'rps / dispatch'),
  },
  {
    bench: 'relay',
    what: '… without events, × dispatch',
    figure: ofProxy('without events', LOAD, 'rps / dispatch'),
  },
  {
    bench: 'relay',
    what: 'added at 50 requests a second, p50, × pipe',
    atMost: 1.5,
    figure: ofGateway(PACED, 'added / pipe'),
  },
  {
    bench: 'relay',
    what: 'added to the first byte, × dispatch',
    atMost: 1.3,
    figure: ofGateway(FIRST_BYTE, 'added / dispatch'),
  },
  {
    bench: 'relay',
    what: 'added to an event of a stream, × dispatch',
    atMost: 1.15,
    figure: ofGateway(STREAM, 'added / dispatch'),
  },
  {
    bench: 'lambda',
    what: 'Lambda: first request, ms more than a bare handler',
    atMost: 12,
    figure: where('kind', 'first request', 'more, ms'),
  },
  {
    bench: 'lambda',
    what: 'Lambda: a chat, × a bare handler',
    atMost: 1.3,
    figure: where('kind', 'chat, 2 KB', 'gateway / bare'),
  },
  {
    bench: 'lambda',
    what: '… without its two events, × a bare handler',
    figure: where('kind', 'chat, 2 KB', 'without events / bare'),
  },
  {
    bench: 'lambda',
    what: 'Lambda: a stream of 500 chunks, × a bare handler',
    atMost: 1.3,
    figure: where('kind', 'stream, 500 chunks', 'gateway / bare'),
  },
  {
    bench: 'lambda',
    what: '… without events and meter, × a bare handler',
    figure: where('kind', 'stream, 500 chunks', 'without events and meter / bare'),
  },
  { bench: 'cold', what: 'cold start of the gateway, ms', atMost: 20, figure: slowest(20) },
  { bench: 'cold', what: '… of the slowest of recorder, rule worker and the API', atMost: 80, figure: slowest(80) },
  { bench: 'cold', what: '… of MCP and jobs', atMost: 110, figure: slowest(110) },
  {
    bench: 'path',
    what: 'the whole path: CPU of the recorder a request, ms',
    atMost: 0.6,
    figure: cpuOfPart('recorder'),
  },
  { bench: 'path', what: '… of the gateway', figure: cpuOfPart('gateway') },
  { bench: 'path', what: '… calls of the queue a request', figure: ({ queueCallsPerRequest }) => queueCallsPerRequest },
  {
    bench: 'recorder',
    what: 'events a second in batches of 100, × one by one',
    atLeast: 5,
    figure: lastOf('ratio', ({ name, addedMs }) => name === 'batches of 100, one account' && addedMs === 0),
  },
  {
    bench: 'rule-evaluator',
    what: 'rules a second, two workers',
    atLeast: 1_000,
    figure: lastOf('rulesPerSecond', ({ workers, alerts }) => workers === 2 && alerts === 0),
  },
  {
    bench: 'budgets',
    what: 'a limit of each of 10,000 users, used up: CPU added, ms; `lagging`',
    figure: where('budgets', 'each lagging', 'CPU added ms'),
  },
  { bench: 'budgets', what: '… `reserved`', figure: where('budgets', 'each reserved', 'CPU added ms') },
  {
    bench: 'exports',
    what: 'export of a record, µs',
    figure: where('what', 'export, all datasets in both formats', 'microsecondsPerRecord'),
  },
  {
    bench: 'meter',
    what: 'metering a stream, × parsing each line, the least of all shapes',
    atLeast: 5,
    figure: (result) => Math.min(...rowsOf(result).map(({ ratio }) => Number(ratio))),
  },
];

const verdict = ({ atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Row, figure: number | string): string => {
  const value = Number.parseFloat(String(figure));
  return value >= atLeast && value <= atMost ? String(figure) : `${figure}, **missed**`;
};

const targetOf = ({ atLeast, atMost }: Row): string =>
  atLeast !== undefined ? `≥ ${atLeast.toLocaleString('en')}` : atMost !== undefined ? `≤ ${atMost}` : '';

const PEERS = ['nginx', 'dispatch', 'pipe', 'gateway', 'portkey'];

const relayTable = (relay: Result): string =>
  markdownTable([
    [
      'proxy',
      'requests/s, 64 connections',
      'CPU µs a request',
      'added at 50/s, p50 ms',
      'to the first byte',
      'to an event of a stream',
      'MB, 500 idle streams',
    ],
    ...PEERS.map((name) => {
      const cell = (title: string, column: string): string =>
        String(rowsOf(relay, title).find(({ proxy }) => proxy === name)?.[column] ?? '').replace(/ \[.*/, '');
      return [
        name,
        cell(LOAD, 'rps'),
        cell(LOAD, 'CPU µs a request'),
        cell(PACED, 'p50 added'),
        cell(FIRST_BYTE, 'p50 added'),
        cell(STREAM, 'p50 added'),
        cell(MEMORY, 'MB with 500'),
      ];
    }),
  ]);

/** @throws Error that names a figure that its result does not have */
export const tablesOf = (results: Results): string => {
  const targets = rows.map((row) => {
    const result = results[row.bench] as Result;
    const figure = row.figure(result);
    if (figure === undefined || Number.isNaN(Number.parseFloat(String(figure))))
      throw new Error(`bench/results/${row.bench}.json has no figure for "${row.what}".`);
    const where = `\`${row.bench}\` ${result.at.slice(0, 10)}`;
    return [row.what, targetOf(row), verdict(row, figure), where];
  });
  const head = ['what', 'target', 'result', 'bench'];
  return `${markdownTable([head, ...targets])}\n\n${relayTable(results['relay'] as Result)}`;
};

const RESULTS = join(import.meta.dirname, '../results');
const PAGE = join(import.meta.dirname, '../../docs/performance.md');
const GENERATED = /(<!-- npm run bench -- --save -->\n)[\s\S]*?(\n<!-- end -->)/;

export const readResults = (): Results =>
  Object.fromEntries(
    readdirSync(RESULTS).map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(join(RESULTS, file), 'utf8')),
    ]),
  );

/** The page with its tables as the results have them. */
export const pageWith = (page: string, results: Results): string =>
  page.replace(GENERATED, (_, begin: string, end: string) => `${begin}\n${tablesOf(results)}\n${end}`);

/** Keeps what a benchmark printed last as its result. */
export const saveResult = (bench: string, command: string, lastLine: string): void => {
  const { node, cpu: _cpu, cores: _cores, ...found } = JSON.parse(lastLine);
  const machine = {
    processor: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `Linux ${release().split('.').slice(0, 2).join('.')}`,
    node,
    load15Minutes: Number(loadavg()[2]?.toFixed(1)),
  };
  const result = { bench, command, at: new Date().toISOString(), machine, ...found };
  writeFileSync(join(RESULTS, `${bench}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
};

/** Writes the page with the results as they are. */
export const writePage = (): void => writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), readResults()));
