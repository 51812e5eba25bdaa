import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import * as circus from 'jest-circus';

const { getState, resetState } = circus;
Object.assign(globalThis, circus, { expect: jestExpect });

type Block = ReturnType<typeof getState>['rootDescribeBlock'];
type Entry = Extract<Block['children'][number], { type: 'test' }>;
type HookType = Block['hooks'][number]['type'];

export interface Test {
  /** File, blank, name: a test file's path has no blank. */
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly startPosition?: { readonly line: number; readonly column: number };
}

export interface Failure {
  readonly test: Test;
  readonly error: unknown;
}

export class NoEnd extends Error {
  override readonly name = 'NoEnd';
}

interface TestFile {
  readonly root: Block;
  readonly tests: ReadonlyMap<Entry, Test>;
}

interface Run {
  /** Ids; without, all. */
  readonly chosen: ReadonlySet<string> | undefined;
  limitMs(test: Test): number;
  started(test: Test): void;
  /** Whether to go on. */
  ended(test: Test, ms: number, failure: Failure | undefined): boolean;
}

const HOOK_LIMIT_MS = 10_000;
/** What is left to clean up once something did not end: the process is given up then. */
const LAST_LIMIT_MS = 1000;
// Tests put others in their place.
const { setTimeout, clearTimeout } = globalThis;

export const fileOf = (id: string): string => id.slice(0, id.indexOf(' '));

const fullName = ({ parent, name }: Pick<Block, 'parent' | 'name'>): string =>
  parent ? `${fullName(parent)} ${name}`.trimStart() : '';

const entriesIn = (block: Block): Entry[] =>
  block.children.flatMap((child) => (child.type === 'test' ? [child] : entriesIn(child)));

/** As Node strips types in place, a stack's positions are those of the source. */
const positionOf = ({ asyncError }: Entry, file: string): Pick<Test, 'startPosition'> => {
  const stack: unknown = asyncError?.stack;
  if (typeof stack !== 'string') return {};
  const at = stack.indexOf(`${file}:`);
  const [line, column] = stack.slice(at + file.length + 1).split(/\D/, 2);
  return at === -1 ? {} : { startPosition: { line: Number(line) - 1, column: Number(column) - 1 } };
};

const loaded = new Map<string, TestFile>();

/** A file's tests, by Jest's own `describe` and `it`; loaded once. */
export const loadTestFile = async (file: string): Promise<TestFile> => {
  const known = loaded.get(file);
  if (known) return known;
  resetState();
  await import(pathToFileURL(resolve(file)).href);
  const root = getState().rootDescribeBlock;
  const tests = new Map<Entry, Test>();
  const ids = new Set<string>();
  for (const entry of entriesIn(root)) {
    const name = fullName(entry);
    let id = `${file} ${name}`;
    while (ids.has(id)) id += ' (again)';
    ids.add(id);
    tests.set(entry, { id, name, file, ...positionOf(entry, file) });
  }
  const testFile = { root, tests };
  loaded.set(file, testFile);
  return testFile;
};

let isHanging = false;
let fail: ((error: unknown) => void) | undefined;
process.on('uncaughtException', (error) => fail?.(error));
process.on('unhandledRejection', (error) => fail?.(error));

/** Runs a test or a hook, which also fails by what is thrown meanwhile where nobody catches it. */
const attempt = async (fn: unknown, limitMs: number): Promise<void> => {
  const { promise, resolve: pass, reject } = Promise.withResolvers<void>();
  const patience = isHanging ? LAST_LIMIT_MS : limitMs;
  const timer = setTimeout(() => {
    isHanging = true;
    reject(new NoEnd(`no end within ${patience} ms`));
  }, patience);
  fail = reject;
  try {
    const run = fn as (done?: (error?: unknown) => void) => unknown;
    if (run.length > 0) run((error) => (error ? reject(error) : pass()));
    else Promise.resolve(run()).then(() => pass(), reject);
    await promise;
  } finally {
    clearTimeout(timer);
    fail = undefined;
  }
};

const hooksOf = (block: Block, type: HookType) => block.hooks.filter((hook) => hook.type === type);

const blocksAround = ({ parent }: Entry): Block[] => {
  const blocks: Block[] = [];
  for (let block: Block | undefined = parent; block; block = block.parent) blocks.unshift(block);
  return blocks;
};

const runTest = async (entry: Entry, test: Test, limitMs: number): Promise<Failure | undefined> => {
  const blocks = blocksAround(entry);
  let failure: Failure | undefined;
  const step = async (fn: unknown): Promise<void> => {
    await attempt(fn, limitMs).catch((error: unknown) => {
      failure ??= { test, error };
    });
  };
  for (const hook of blocks.flatMap((block) => hooksOf(block, 'beforeEach'))) if (!failure) await step(hook.fn);
  if (!failure) await step(entry.fn);
  for (const hook of blocks.toReversed().flatMap((block) => hooksOf(block, 'afterEach'))) await step(hook.fn);
  return failure;
};

/** Runs a file's chosen tests in their order, as long as `ended` says to go on. A hook of a block fails the block's first test. */
export const runTestFile = async ({ root, tests }: TestFile, run: Run): Promise<void> => {
  let goesOn = true;
  const isChosen = (entry: Entry): boolean =>
    entry.mode !== 'skip' && entry.mode !== 'todo' && (run.chosen?.has(tests.get(entry)!.id) ?? true);
  const runBlock = async (block: Block): Promise<void> => {
    const first = entriesIn(block).find(isChosen);
    if (!first || !goesOn) return;
    const runHook = async (fn: unknown): Promise<void> => {
      await attempt(fn, HOOK_LIMIT_MS).catch((error: unknown) => {
        const test = tests.get(first)!;
        goesOn = run.ended(test, 0, { test, error }) && goesOn;
      });
    };
    for (const hook of hooksOf(block, 'beforeAll')) if (goesOn) await runHook(hook.fn);
    for (const child of block.children) {
      if (!goesOn) break;
      if (child.type === 'describeBlock') {
        await runBlock(child);
      } else if (isChosen(child)) {
        const test = tests.get(child)!;
        const began = performance.now();
        run.started(test);
        const failure = await runTest(child, test, run.limitMs(test));
        goesOn = run.ended(test, performance.now() - began, failure);
      }
    }
    for (const hook of hooksOf(block, 'afterAll')) await runHook(hook.fn);
  };
  await runBlock(root);
};
