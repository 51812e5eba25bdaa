import { expect, it, jest } from '@jest/globals';
import { runJobs } from '../../lambda/account-jobs/run-jobs.ts';
import { jobItem } from '../../lambda/data/accounts/account-jobs.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { archiveKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';

const table = tableForTests();
const now = new Date('2026-11-20T12:00:00.000Z');

it('a job that fails and cannot be put off keeps no other from its turn, and none is begun too late to end', async () => {
  for (const [id, minute] of [
    ['poisoned', '10'],
    ['next', '11'],
  ] as const)
    await write(
      table,
      put(jobItem('archive', archiveKey('a', id), { accountId: 'a' }, `2026-11-20T11:${minute}:00.000Z`)),
    );
  const unreadable = async () => {
    throw new Error('unreadable');
  };
  const run = jest.fn((_accountId: string, id: string) => (id === 'poisoned' ? unreadable() : Promise.resolve()));
  const logger = silentLogger();
  const runAll = runJobs(table, { archive: { run, putOff: unreadable } }, logger, () => now);
  await runAll(() => 11_999);
  expect(run).not.toHaveBeenCalled();
  await expect(runAll(() => 60_000)).rejects.toThrow('1 jobs failed.');
  expect(run.mock.calls.map(([, id]) => id)).toEqual(['poisoned', 'next']);
  expect(logger.error).toHaveBeenCalledTimes(1);
});

it('a job that does not end is put off, and keeps no other from its turn', async () => {
  const save = (id: string, dueAt: string) =>
    write(table, put(jobItem('archive', archiveKey('b', id), { accountId: 'b' }, dueAt)));
  await save('endless', '2026-11-20T11:00:00.000Z');
  await save('next', '2026-11-20T11:01:00.000Z');
  const run = jest.fn((_: string, id: string) => (id === 'endless' ? new Promise<void>(() => {}) : Promise.resolve()));
  const putOff = async (_: string, id: string, dueAt: (failures: number) => Date) => {
    await save(id, dueAt(1).toISOString());
    return 1;
  };
  const runAll = runJobs(table, { archive: { run, putOff } }, silentLogger(), () => now);
  const remainingMs = jest.fn(() => 2_010).mockReturnValueOnce(50_000);
  await expect(runAll(remainingMs)).rejects.toThrow('1 jobs failed.');
  await runAll(() => 50_000);
  const [first, ...others] = run.mock.calls.map(([, id]) => id);
  expect(first).toBe('endless');
  expect(others).toContain('next');
  expect(others).not.toContain('endless');
});
