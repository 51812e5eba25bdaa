import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { runTestFile } from './native-runner.ts';

const folder = await mkdtemp(join(tmpdir(), 'test-files-'));
afterAll(() => rm(folder, { recursive: true }));

/** Runs a test file of this text until it sends nothing for a while. */
const run = async (text: string) => {
  const path = join(folder, 'a.test.mjs');
  await writeFile(path, text);
  const config = {
    setupFilesAfterEnv: [],
    snapshotSerializers: [],
    testTimeout: 5_000,
    slowTestThreshold: 5,
    fakeTimers: {},
    injectGlobals: true,
    rootDir: folder,
  };
  return runTestFile({ path, context: { config } }, { maxWorkers: 1 }, 2_500);
};

it('keeps what a test file came to when its process does not end', async () => {
  const result = await run(`test('one', () => {}); process.on('exit', () => { for (;;); });`);
  expect(result).toMatchObject({ numPassingTests: 1, numFailingTests: 0 });
});

it('kills a test file with an endless loop, and says how to repeat it', async () => {
  await expect(run(`test('one', () => { for (;;); });`)).rejects.toMatchObject({
    message: expect.stringMatching(/killed: it was busy for 2500 ms.*\n.*TEST_SEED=\d+/),
  });
});

it('ends with a test file whose processes outlive it', async () => {
  const result = await run(`
    import { spawn } from 'node:child_process';
    spawn('sleep', ['8'], { stdio: 'inherit', detached: true }).unref();
    test('one', () => {});`);
  expect(result).toMatchObject({ numPassingTests: 1 });
});
