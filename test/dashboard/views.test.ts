import { describe, expect, it } from '@jest/globals';
import { MAX_SEARCH_CHARACTERS, MAX_VIEWS, searchProblem, viewPages } from '../../lambda/domain/accounts/saved-view.ts';
import { invalidAt, refusedWith } from '../http/invoke.ts';
import { dashboardForTests } from './open-dashboard.ts';

const NOW = '2026-11-20T16:30:00.000Z';

const { table, caller, call, audited } = dashboardForTests();
const save = (body: object, as?: object) =>
  call('POST', '/views', { name: 'This month', page: 'overview', search: '', ...body }, as);
const list = async (as?: object) => (await call('GET', '/views', undefined, as)).body.items;

describe('/views', () => {
  it('saves, lists by name, renames, overwrites and deletes views, each in the audit log', async () => {
    const { status, body: view } = await save({ name: ' Team search ', search: 'range=month&by=dim%3Ateam' });
    expect(status).toBe(201);
    expect(view).toEqual({
      id: expect.any(String),
      name: 'Team search',
      page: 'overview',
      search: 'range=month&by=dim%3Ateam',
      createdAt: NOW,
      updatedAt: NOW,
    });
    await save({ name: 'Failures', page: 'requests', search: 'status=500' });
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['Failures', 'Team search']);
    expect((await call('PATCH', `/views/${view.id}`, { name: 'Search' })).body).toEqual({ ...view, name: 'Search' });
    const search = 'range=7d&model=%5B%22gpt-4o%22%5D';
    expect((await call('PATCH', `/views/${view.id}`, { search })).body).toEqual({ ...view, name: 'Search', search });
    expect(await call('DELETE', `/views/${view.id}`)).toMatchObject({ status: 204 });
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['Failures']);
    expect(
      (await audited()).map(({ action, subject, details }) => [action, subject === view.id, details]).sort(),
    ).toEqual([
      ['view.changed', true, { name: 'Search', page: 'overview', search }],
      ['view.changed', true, { name: 'Search', page: 'overview', search: view.search }],
      ['view.created', false, { name: 'Failures', page: 'requests', search: 'status=500' }],
      ['view.created', true, { name: 'Team search', page: 'overview', search: view.search }],
      ['view.deleted', true, { name: 'Search', page: 'overview', search }],
    ]);
  });

  it('has each name once on a page', async () => {
    const { body: first } = await save({ name: 'A' });
    expect(await save({ name: 'A' })).toMatchObject(refusedWith(409, 'CONFLICT'));
    expect((await save({ name: 'A', page: 'compare' })).status).toBe(201);
    const { body: second } = await save({ name: 'B' });
    expect((await call('PATCH', `/views/${second.id}`, { name: 'A' })).status).toBe(409);
    expect((await call('PATCH', `/views/${first.id}`, { name: 'A', search: 'by=tag' })).status).toBe(200);
  });

  it('has at most 50 views, and can change them then', async () => {
    for (let n = 0; n < MAX_VIEWS; n++) expect((await save({ name: `View ${n}` })).status).toBe(201);
    const full = await save({ name: 'One more' });
    expect(full).toMatchObject(refusedWith(409, 'LIMIT_REACHED'));
    const [{ id }] = await list();
    expect((await call('PATCH', `/views/${id}`, { name: 'One more' })).status).toBe(200);
    expect((await call('DELETE', `/views/${id}`)).status).toBe(204);
    expect((await save({ name: 'Room again' })).status).toBe(201);
  });

  it('has no view that is gone', async () => {
    expect((await call('PATCH', '/views/gone', { name: 'Mine now' })).status).toBe(404);
    expect((await call('DELETE', '/views/gone')).status).toBe(404);
  });

  it('shows views of requests to those only who may read requests', async () => {
    await save({ name: 'Failures', page: 'requests', search: 'status=500' });
    await save({ name: 'This month' });
    const names = async (role: string) =>
      (await list({ userId: role, role })).map(({ name }: { name: string }) => name);
    expect(await names('viewer')).toEqual(['Failures', 'This month']);
    expect(await names('billing')).toEqual(['This month']);
    expect((await save({}, { userId: 'v', role: 'viewer' })).status).toBe(403);
  });

  it('shows to somebody who sees a part of the account, and stores for them, what names nothing else', async () => {
    const part = { userId: 'bob', role: 'member', projects: ['p'], keyIds: new Set<string>() } as const;
    const { body: view } = await save({ name: 'Whole' }, part);
    const elsewhere = [`key=${caller.keyId}`, 'project=default', `member=${caller.userId}`];
    for (const search of [...elsewhere, 'key=(other)']) {
      expect(await save({ search }, part)).toMatchObject(invalidAt('search'));
      expect(await call('PATCH', `/views/${view.id}`, { search }, part)).toMatchObject(invalidAt('search'));
    }
    const unknown = await save({ search: 'key=0000' }, part);
    const known = await save({ search: elsewhere[0] }, part);
    expect(known.body.error.message.replace(caller.keyId, '0000')).toBe(unknown.body.error.message);
    expect(await list(part)).toEqual([view]);
    expect(await list()).toEqual([view]);
    // Nor does a name tell of a view that they do not see.
    const { body: unseen } = await save({ name: 'Unseen', search: elsewhere[0] });
    expect((await save({ name: 'Unseen' }, part)).status).toBe(201);
    expect((await save({ name: 'Unseen' }, part)).status).toBe(409);
    expect((await call('PATCH', `/views/${unseen.id}`, { search: '' })).status).toBe(200);
  });

  it('keeps what names keys, projects and members of the account, or several at once', async () => {
    const search = `key=${caller.keyId}&project=%5B%22default%22%5D&member=%22${caller.userId}%22`;
    expect((await save({ search })).status).toBe(201);
    expect((await save({ name: 'Others', search: 'key=(other)' })).status).toBe(201);
  });

  it.each([
    ['an unknown page', { page: 'https://example.com' }, 'page'],
    ['no name', { name: '  ' }, 'name'],
    ['a long name', { name: 'n'.repeat(61) }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a long search', { search: `model=${'m'.repeat(MAX_SEARCH_CHARACTERS)}` }, 'search'],
    ['a parameter of another page', { page: 'requests', search: 'range=month' }, 'search'],
    ['an unknown parameter', { search: 'next=%2F%2Fexample.com' }, 'search'],
    ['a URL', { search: '//example.com/?by=tag' }, 'search'],
    ['a key of no account', { search: 'key=%220000%22' }, 'search'],
    ['a project of no account', { search: 'project=%5B%22default%22%2C%22p%22%5D' }, 'search'],
    ['a member of no account', { page: 'compare', search: 'member=m' }, 'search'],
    ['a fragment', { search: 'by=tag#x' }, 'search'],
    ['a broken encoding', { search: 'model=%E0%4' }, 'search'],
    ['line breaks', { search: 'by=tag\n' }, 'search'],
  ])('refuses %s', async (_, body, path) => {
    const { status, body: response } = await save(body);
    expect([status, response.error.details[0].path]).toEqual([400, path]);
    expect(await list()).toEqual([]);
  });

  it('reads the stored form of version 0.2', async () => {
    const sample = {
      pk: `ACCOUNT#${caller.accountId}`,
      sk: 'VIEW#01a1f8d3-ea00-7000-8000-000000000001',
      viewId: '01a1f8d3-ea00-7000-8000-000000000001',
      name: 'Team search',
      page: 'compare',
      search: 'periods=month&by=tag',
      createdAt: NOW,
      updatedAt: NOW,
    };
    await table.call('PutItem', { TableName: table.name, Item: sample });
    const { pk, sk, viewId: id, ...view } = sample;
    expect(await list()).toEqual([{ id, ...view }]);
  });
});

describe('the settings of a view', () => {
  it('are parameters of its page, each at most as long as the whole', () => {
    expect(viewPages.map((page) => searchProblem(page, 'from=2026-11-01&model=gpt-4o'))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(searchProblem('compare', 'dim%3Ateam=%5B%22search%22%5D')).toBeUndefined();
    expect(searchProblem('requests', 'dim%3Ateam=search')).toBe('the page requests has no parameter dim:team');
    expect(searchProblem('overview', '')).toBeUndefined();
  });
});
