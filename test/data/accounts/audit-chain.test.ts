import { describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { auditEntry, openAuditLog, putAudit } from '../../../lambda/data/accounts/audit-log.ts';
import { put, remove, update } from '../../../lambda/data/table/actions.ts';
import { auditHeadKey, auditKey, auditPartition, projectKey } from '../../../lambda/data/table/keys.ts';
import { queryItems } from '../../../lambda/data/table/read.ts';
import { ConditionsFailedError, transact, write } from '../../../lambda/data/table/write.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();
const log = () => openAuditLog(table);
const START = Date.parse('2026-11-20T10:00:00.000Z');
const NOW = new Date(START + 3_600_000);

const entryOf = (accountId: string, n: number, at = START) =>
  auditEntry(
    accountId,
    { actor: { userId: 'u', name: 'Ada' } },
    { action: 'key.created', subject: `${n}` },
    new Date(at + n),
  );

/** An account with entries, oldest first. */
const accountWith = async (count: number) => {
  const accountId = uuidv7();
  const entries = Array.from({ length: count }, (_, n) => entryOf(accountId, n));
  for (const entry of entries) await log().record(entry);
  const keyOf = (n: number) => auditKey(accountId, entries[n]?.at ?? '', entries[n]?.auditId ?? '');
  const check = async () => {
    const { intact, astray, brokenBefore, earlier } = await log().check(accountId, NOW);
    const subjectOf = (link: typeof brokenBefore) => (link === null || link === 'head' ? link : link['subject']);
    return { intact: intact.size, astray: astray.map(subjectOf), brokenBefore: subjectOf(brokenBefore), earlier };
  };
  return { accountId, entries, keyOf, check };
};

describe('the audit log', () => {
  it('is whole, also when many write at once', async () => {
    const { accountId, check } = await accountWith(2);
    await Promise.all(Array.from({ length: 12 }, (_, n) => log().record(entryOf(accountId, n + 2))));
    expect(await check()).toEqual({ intact: 14, astray: [], brokenBefore: null, earlier: 0 });
  });

  it('shows an entry that was changed', async () => {
    const { keyOf, check } = await accountWith(5);
    await write(table, update(keyOf(2), 'SET subject = :subject', null, { subject: 'other' }));
    expect(await check()).toEqual({
      intact: 2,
      astray: expect.arrayContaining(['0', '1', 'other']),
      brokenBefore: '3',
      earlier: 0,
    });
  });

  it.each([
    ['in the middle', 2, { intact: 2, astray: ['1', '0'], brokenBefore: '3' }],
    ['first', 0, { intact: 4, astray: [], brokenBefore: '1' }],
    ['last', 4, { intact: 0, astray: ['3', '2', '1', '0'], brokenBefore: 'head' }],
  ])('shows that the entry %s was removed', async (_, n, found) => {
    const { keyOf, check } = await accountWith(5);
    await write(table, remove(keyOf(n)));
    expect(await check()).toEqual({ ...found, earlier: 0 });
  });

  it('shows an entry that was added by hand, and an account without its head', async () => {
    const { accountId, check } = await accountWith(2);
    const { ChainedPut } = putAudit(entryOf(accountId, 7));
    await write(table, put({ ...ChainedPut.item, previous: null }));
    expect(await check()).toMatchObject({ intact: 2, astray: ['7'], brokenBefore: null });
    await write(table, remove(auditHeadKey(accountId)));
    expect(await check()).toMatchObject({ intact: 0, astray: ['7', '1', '0'] });
  });

  it('is whole where the table has removed what is too old, and counts entries from before it was a chain', async () => {
    const { accountId, check } = await accountWith(1);
    const { accountId: oldId } = await accountWith(0);
    const old = entryOf(oldId, 0, START - 401 * 86_400_000);
    await log().record(old);
    await log().record(entryOf(oldId, 1));
    await write(table, remove(auditKey(oldId, old.at, old.auditId)));
    expect(await log().check(oldId, NOW)).toMatchObject({ brokenBefore: null, astray: [] });
    const { ChainedPut } = putAudit(entryOf(accountId, 5));
    await write(table, put(ChainedPut.item));
    expect(await check()).toEqual({ intact: 1, astray: [], brokenBefore: null, earlier: 1 });
  });

  it('gets no entry of a change that is refused, whose conditions are told by their place', async () => {
    const { accountId, check } = await accountWith(1);
    const project = { ...projectKey(accountId, 'p'), name: 'p' };
    await write(table, put(project));
    const attempt = transact(table, [
      put({ ...project, sk: 'OTHER' }),
      putAudit(entryOf(accountId, 3)),
      put(project, 'attribute_not_exists(pk)'),
    ]);
    await expect(attempt).rejects.toThrow(ConditionsFailedError);
    await expect(attempt).rejects.toMatchObject({ refused: [false, false, true] });
    expect(await check()).toMatchObject({ intact: 1, astray: [], brokenBefore: null });
    const items = [];
    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': auditPartition(accountId) },
    };
    for await (const item of queryItems(table, query)) items.push(item);
    expect(items).toHaveLength(2);
  });
});

it('an entry has what was there before of what changed, also of what is gone', () => {
  const fact = { action: 'key.changed', details: { name: 'b', role: 'x' }, before: { name: 'a', role: 'x', end: 'y' } };
  expect(auditEntry('a', {}, fact as never, NOW).before).toEqual({ name: 'a', end: 'y' });
});
