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

it('a job that fails and cannot be put off keeps no other from its turn', async () => {
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
  await expect(runAll(() => 60_000)).rejects.toThrow('1 jobs failed.');
  expect(run.mock.calls.map(([, id]) => id)).toEqual(['poisoned', 'next']);
  expect(logger.error).toHaveBeenCalledTimes(1);
});
