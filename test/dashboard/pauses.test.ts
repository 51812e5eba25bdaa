import { describe, expect, it } from '@jest/globals';
import { openBlockCopies } from '../../lambda/data/accounts/key-copies.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { MAX_PAUSES } from '../../lambda/domain/limits/pauses.ts';
import { newMember } from '../data/new-account.ts';
import { invalidAt } from '../http/invoke.ts';
import { dashboardForTests } from './open-dashboard.ts';

/** It happens before keys are written next. */
let meanwhile: () => Promise<unknown> = async () => {};
const { table, clock, caller, call, audited } = dashboardForTests({
  blockCopies: {
    write: async (...copies) => {
      const happens = meanwhile;
      meanwhile = async () => {};
      await happens();
      await openBlockCopies(table).write(...copies);
    },
    expect: (accountId) => openBlockCopies(table).expect(accountId),
  },
});
const pause = (scope: object, changes: object = {}, as: object = {}) =>
  call('POST', '/pauses', { name: 'Runs away', scope, ...changes }, as);
const blocks = async () => (await openBlocks(table).read(caller.accountId)).blocks;
const copyOnKey = async () => (await findItem(table, serviceKeyKey(secretHash(caller.accountKey))))?.['withoutBlocks'];

describe('a pause', () => {
  it('blocks its scope until its end, and every key of the account says that there are blocks', async () => {
    const { status, body } = await pause({ session: 's-1', tag: 'night' }, { minutes: 30 });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Runs away',
        scope: { session: 's-1', tag: 'night' },
        startedAt: '2026-11-20T16:30:00.000Z',
        until: '2026-11-20T17:00:00.000Z',
        ruleId: null,
        enforcedFrom: '2026-11-20T16:31:05.000Z',
      },
    ]);
    expect(await blocks()).toMatchObject([
      { kind: 'pause', scope: { sessionId: 's-1', tag: 'night' }, until: '2026-11-20T17:00:00.000Z' },
    ]);
    expect(await copyOnKey()).toBe('pass');
    const { enforcedFrom: _, ...listed } = body;
    expect((await call('GET', '/pauses')).body.items).toEqual([listed]);
    // The account has blocks already: the next one is known sooner.
    expect((await pause({ tag: 'other' })).body.enforcedFrom).toBe('2026-11-20T16:30:05.000Z');
  });

  it('of a project is one of its active keys', async () => {
    const { body } = await pause({ project: 'default' }, { minutes: null });
    expect(body).toMatchObject({ scope: { project: 'default' }, until: null });
    expect(await blocks()).toMatchObject([{ scope: { keyIds: [caller.keyId] } }]);
    for (const scope of [{ project: 'nowhere' }, { key: 'nowhere' }])
      expect(await pause(scope)).toMatchObject(invalidAt(`scope.${Object.keys(scope)[0]}`));
  });

  it('ends by itself, or when somebody ends it', async () => {
    const { body: first } = await pause({ key: caller.keyId }, { minutes: 1 });
    const { body: second } = await pause({ tag: 'a' }, { minutes: 10 });
    clock.setTime(clock.getTime() + 60_000);
    expect((await call('GET', '/pauses')).body.items).toMatchObject([{ id: second.id }]);
    expect((await call('DELETE', `/pauses/${first.id}`)).status).toBe(404);
    expect((await call('DELETE', `/pauses/${second.id}`)).status).toBe(204);
    expect([await blocks(), await copyOnKey()]).toEqual([[], undefined]);
    expect((await audited()).map(({ action, subject }) => [action, subject])).toEqual(
      expect.arrayContaining([
        ['pause.started', first.id],
        ['pause.started', second.id],
        ['pause.ended', second.id],
      ]),
    );
    expect(await audited()).toHaveLength(3);
  });

  it('is known to every key where it begins as the last one before it ends', async () => {
    const { body } = await pause({ tag: 'before' });
    meanwhile = () => pause({ tag: 'after' });
    expect((await call('DELETE', `/pauses/${body.id}`)).status).toBe(204);
    expect([await blocks(), await copyOnKey()]).toEqual([
      [expect.objectContaining({ scope: { tag: 'after' } })],
      'pass',
    ]);
  });

  it.each<[string, object]>([
    ['/pauses', { name: 'p', scope: { tag: 'a' } }],
    ['/access-rules', { name: 'r', denied: ['openai/*'] }],
    ['/budgets', { name: 'b', amount: 1, period: 'monthly', block: {} }],
  ])('the first of %s is in force wherever its process ends', async (path, body) => {
    meanwhile = () => Promise.reject(new Error('the process ends'));
    expect((await call('POST', path, body)).status).toBe(500);
    expect((await call('GET', path)).body.items).toHaveLength(1);
    expect(await copyOnKey()).toBe('pass');
  });

  it('is seen and ended by who sees all of its keys', async () => {
    const { body } = await pause({ project: 'default' });
    await openBlocks(table).change(caller.accountId, (stored) => ({
      ...stored,
      blocks: stored.blocks.flatMap((block) => [
        { ...block, scope: { keyIds: [caller.keyId, 'another'] } },
        { ...block, id: 'budget', kind: 'budget' as const },
      ]),
    }));
    expect((await call('DELETE', '/pauses/budget')).status).toBe(404);
    const sees = (...keyIds: string[]) => ({
      ...{ ...caller, role: 'member' as const, projects: ['default'], keyIds: new Set(keyIds) },
    });
    const end = (as: object) => call('DELETE', `/pauses/${body.id}`, undefined, as);
    expect((await call('GET', '/pauses', undefined, sees(caller.keyId))).body.items).toEqual([]);
    expect((await end(sees(caller.keyId))).status).toBe(404);
    expect((await end(sees(caller.keyId, 'another'))).status).toBe(204);
  });

  it('says the same of a key and a project that the caller does not see, as of none', async () => {
    const { body: seen } = await call('POST', '/keys', { name: 'seen' });
    const part = { role: 'member', projects: ['p'], keyIds: new Set<string>([seen.id]) } as const;
    for (const [name, id] of Object.entries({ key: caller.keyId, project: 'default' })) {
      const [hidden, none] = [await pause({ [name]: id }, {}, part), await pause({ [name]: 'none' }, {}, part)];
      expect([hidden.status, hidden.body.error.details]).toEqual([
        400,
        [{ ...none.body.error.details[0], message: none.body.error.details[0].message.replace('none', id) }],
      ]);
    }
    expect(await pause({ tag: 'night' }, {}, part)).toMatchObject({ status: 403 });
  });

  it('is ended by others, or by who began it, where it stops the keys of a single member', async () => {
    const ada = { userId: `ada-${caller.userId}`, role: 'member' } as const;
    await newMember(table, caller.accountId, ada.userId, ada.role);
    const { body: key } = await call('POST', '/keys', { name: 'own' }, ada);
    const end = (id: string, as: object) => call('DELETE', `/pauses/${id}`, undefined, as);
    const { body: byOwner } = await pause({ key: key.id });
    expect(await end(byOwner.id, ada)).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect((await end(byOwner.id, { userId: 'bob', role: 'member' })).status).toBe(204);
    const { body: own } = await pause({ key: key.id }, {}, ada);
    expect((await end(own.id, ada)).status).toBe(204);
    for (const scope of [{ tag: 'night' }, { project: 'default' }]) {
      const { body: ofMore } = await pause(scope);
      expect((await end(ofMore.id, ada)).status).toBe(204);
    }
    const { body: byRule } = await pause({ key: key.id });
    await openBlocks(table).change(caller.accountId, (stored) => ({
      ...stored,
      blocks: stored.blocks.map(({ startedBy: _, ...block }) => block),
    }));
    expect((await end(byRule.id, ada)).status).toBe(204);
  });

  it.each<[string, object]>([
    ['no scope', {}],
    ['a key and a project', { key: 'a', project: 'b' }],
    ['an unknown provider', { provider: 'nobody' }],
  ])('is refused with %s', async (_case, scope) => {
    expect((await pause(scope)).status).toBe(400);
  });

  it('is refused past the limit, and the others stay', async () => {
    const tags = Array.from({ length: MAX_PAUSES }, (_, index) => `tag-${index}`);
    for (const tag of tags) expect((await pause({ tag })).status).toBe(201);
    const { status, body } = await pause({ tag: 'one more' }, { minutes: null });
    expect([status, body.error.code]).toEqual([409, 'LIMIT_REACHED']);
    expect((await blocks()).map(({ scope }) => scope.tag)).toEqual(tags);
  });
});
