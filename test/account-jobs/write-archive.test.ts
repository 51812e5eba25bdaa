import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { beforeAll, expect, it } from '@jest/globals';
import { extract } from 'tar-stream';
import { openArchiveFiles } from '../../lambda/account-jobs/archive-files.ts';
import { failArchive, writeArchive } from '../../lambda/account-jobs/write-archive.ts';
import { openArchives } from '../../lambda/data/accounts/archives.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { archiveKey, ruleKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent } from '../usage-recorder/events.ts';
import { fillAccount } from './account-with-everything.ts';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const SECRET = 'whsec_never_in_an_archive';

const table = tableForTests();
let account: Awaited<ReturnType<typeof newAccount>>;
let requests: string[];

/** A store in memory, with uploads in parts as S3 has them. */
const store = () => {
  const objects = new Map<string, Uint8Array>();
  const uploads = new Map<string, Map<number, Uint8Array>>();
  return {
    objects,
    beginUpload: async () => {
      uploads.set(`u${uploads.size}`, new Map());
      return `u${uploads.size - 1}`;
    },
    uploadPart: async (_: string, id: string, part: number, body: Uint8Array) => {
      const upload = uploads.get(id);
      if (upload === undefined) throw Object.assign(new Error('no such upload'), { name: 'NoSuchUpload' });
      upload.set(part, Uint8Array.from(body));
      return `tag${part}`;
    },
    completeUpload: async (key: string, id: string, tags: readonly string[]) => {
      const parts = uploads.get(id);
      objects.set(key, Buffer.concat(tags.map((tag) => parts?.get(Number(tag.slice(3))) as Uint8Array)));
      uploads.delete(id);
    },
    abortUpload: async (_: string, id: string) => void uploads.delete(id),
    put: async (key: string, body: Uint8Array | string) => void objects.set(key, Buffer.from(body)),
    get: async (key: string) => objects.get(key),
    uploads,
  };
};

const begin = async () => {
  const archives = openArchives(table);
  const archiveId = `archive-${Math.random()}`;
  await archives.create(
    {
      archiveId,
      accountId: account.accountId,
      status: 'pending',
      progress: 0,
      requestedAt: NOW.toISOString(),
      requestedBy: account.email,
      bytes: null,
      availableUntil: null,
      checkpoint: null,
    },
    auditEntry(account.accountId, {}, { action: 'archive.requested', subject: archiveId }, NOW),
  );
  return archiveId;
};

const writer = (objects: ReturnType<typeof store>, partBytes = 6_000_000) =>
  writeArchive({
    archives: openArchives(table),
    files: openArchiveFiles(table, openRequests(table)),
    objects,
    now: () => NOW,
    logger: silentLogger(),
    partBytes,
  });

const unpack = async (archive: Uint8Array): Promise<Map<string, string>> => {
  const files = new Map<string, string>();
  const entries = Readable.from([Buffer.from(archive)])
    .pipe(createGunzip())
    .pipe(extract());
  for await (const entry of entries) files.set(entry.header.name, await text(entry));
  return files;
};
const linesOf = (file: string | undefined) =>
  (file ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const wholeOf = (objects: ReturnType<typeof store>, archiveId: string) =>
  objects.objects.get(`archives/${account.accountId}/${archiveId}/ai-spend-archive.tar.gz`) as Uint8Array;

beforeAll(async () => {
  account = await newAccount(table, 'PRO');
  const { accountId } = account;
  const events = Array.from({ length: 40 }, (_, n) =>
    closeEvent({
      n,
      accountId,
      keyId: account.keyId,
      startedAt: `2026-11-${n < 20 ? 20 : 21}T12:00:00.000Z`,
      tag: 'search',
      ...(n === 0 && { session: { id: 's1' } }),
    }),
  );
  await openRecorder(table, { logger: silentLogger(), now: () => NOW.getTime() })(events);
  requests = events.map(({ requestId }) => requestId);
  const rule = { name: 'Daily limit', webhook: { url: 'https://example.com/hook', secret: SECRET } };
  await table.call('PutItem', { TableName: table.name, Item: { ...ruleKey(accountId, 'r1'), ...rule } });
  await openAuditLog(table).record(auditEntry(accountId, {}, { action: 'key.created', subject: 'k' }, NOW));
  // Another account's data is in no archive.
  const other = await newAccount(table);
  await openRecorder(table, { logger: silentLogger(), now: () => NOW.getTime() })([
    closeEvent({ n: 99, accountId: other.accountId, tag: 'foreign' }),
  ]);
});

it('writes everything of the account, and no secret', async () => {
  const objects = store();
  const archiveId = await begin();
  await writer(objects)(account.accountId, archiveId, () => false);
  const { expiresAt } = (await findItem(table, archiveKey(account.accountId, archiveId))) ?? {};
  expect(expiresAt).toBe(NOW.getTime() / 1_000 + 14 * 86_400);
  const files = await unpack(wholeOf(objects, archiveId));
  expect([...files.keys()].sort()).toEqual(
    [
      'README.txt',
      'account.jsonl',
      'audit.jsonl',
      'requests/2026-11-20.jsonl',
      'requests/2026-11-21.jsonl',
      'sessions/2026-11-20.jsonl',
      'spend/2026-11.csv',
    ].map((name) => `ai-spend/${name}`),
  );
  const kinds = linesOf(files.get('ai-spend/account.jsonl')).map(({ kind }) => kind);
  expect([...new Set(kinds)].sort()).toEqual(['account', 'key', 'rule', 'user']);
  expect(linesOf(files.get('ai-spend/account.jsonl')).find(({ kind }) => kind === 'user')).toMatchObject({
    email: account.email,
    lastName: 'Lovelace',
    role: 'owner',
  });
  const days = ['2026-11-20', '2026-11-21'].map((day) => linesOf(files.get(`ai-spend/requests/${day}.jsonl`)));
  expect(
    days
      .flat()
      .map(({ requestId }) => requestId)
      .sort(),
  ).toEqual([...requests].sort());
  expect(days.flat()[0]).toMatchObject({ provider: 'openai', tag: 'search', reading: { modelRequested: 'gpt-4o' } });
  const sessions = linesOf(files.get('ai-spend/sessions/2026-11-20.jsonl'));
  expect(sessions).toMatchObject([{ sessionId: 's1', requests: 1, activeHours: [12] }]);
  const spend = files.get('ai-spend/spend/2026-11.csv') ?? '';
  expect(
    spend
      .split('\r\n')
      .slice(1, 3)
      .map((line) => line.split(',').slice(0, 6).join(',')),
  ).toEqual([
    '2026-11-20,openai,gpt-4o-2024-08-06,search,default,20',
    '2026-11-21,openai,gpt-4o-2024-08-06,search,default,20',
  ]);
  const whole = [...files.values()].join('\n');
  for (const secret of [SECRET, account.accountKey, secretHash(account.accountKey), 'foreign'])
    expect(whole).not.toContain(secret);
  expect(await openArchives(table).find(account.accountId, archiveId)).toMatchObject({
    status: 'ready',
    progress: 100,
    bytes: wholeOf(objects, archiveId).length,
    availableUntil: '2026-11-29T12:00:00.000Z',
    checkpoint: null,
  });
});

it('has every kind of item that somebody decided, and none that the service notes for itself', async () => {
  const accountId = 'account-with-everything';
  await fillAccount(table, { accountId, mark: 'EVERY', day: '2026-11-20' });
  const files = openArchiveFiles(table, openRequests(table)).read(accountId, NOW, { section: 1, after: null, file: 0 });
  const { value } = await files.next();
  const lines = linesOf(value.text);
  expect([...new Set(lines.map(({ kind }) => kind))].sort()).toEqual([
    'account',
    'alert',
    'bill',
    'bill_connection',
    'destination',
    'invitation',
    'key',
    'override',
    'prices',
    'project',
    'raise',
    'report',
    'report_run',
    'rule',
    'saving',
    'token',
    'user',
    'view',
  ]);
  // Only its key says of which limit and value it is.
  expect(lines.filter(({ kind }) => kind === 'override')).toEqual([
    { kind: 'override', budgetId: 'b2', value: 'memberEVERY', amountNanoUsd: 1 },
  ]);
  // What signs, what a destination's receiver asks for, and hashes of secrets.
  expect(value.text).not.toMatch(/whsec|Bearer|hash/i);
});

it('is the same in many runs, some of which die', async () => {
  const once = store();
  const first = await begin();
  await writer(once)(account.accountId, first, () => false);
  const expected = await unpack(wholeOf(once, first));

  const objects = store();
  const archiveId = await begin();
  let runs = 0;
  const { find } = openArchives(table);
  const progress: number[] = [];
  while ((await find(account.accountId, archiveId)).status === 'pending') {
    // Each run ends after some files or days. Every other dies later, and has written parts that nobody knows of.
    let looks = 150;
    const run = writer(objects, 1_000)(account.accountId, archiveId, () => {
      looks -= 1;
      if (looks < 0 && runs % 2 === 1) throw new Error('The process died.');
      return looks < 0 && runs % 2 === 0;
    });
    await run.catch((error: Error) => expect(error.message).toBe('The process died.'));
    progress.push((await find(account.accountId, archiveId)).progress);
    runs += 1;
    expect(runs).toBeLessThan(40);
  }
  expect(runs).toBeGreaterThan(4);
  expect(progress).toEqual([...progress].sort((x, y) => x - y));
  expect(progress.some((each) => each > 10 && each < 100)).toBe(true);
  const files = await unpack(wholeOf(objects, archiveId));
  const withoutAudit = (from: Map<string, string>) => [...from].filter(([name]) => !name.endsWith('audit.jsonl'));
  expect(withoutAudit(files)).toEqual(withoutAudit(expected));
});

it('begins anew where its upload is gone, and gives up in the end', async () => {
  const objects = store();
  const archiveId = await begin();
  const archives = openArchives(table);
  const fail = failArchive({ archives, objects });
  await writer(objects, 1_000)(account.accountId, archiveId, () => true);
  objects.uploads.clear();
  const error = await writer(objects, 1_000)(account.accountId, archiveId, () => false).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(await fail(account.accountId, archiveId, () => NOW, error)).toBe(1);
  expect((await archives.find(account.accountId, archiveId)).checkpoint).toBeNull();
  for (const failures of [2, 3, 4, 5])
    expect(await fail(account.accountId, archiveId, () => NOW, new Error('down'))).toBe(failures);
  expect(await archives.find(account.accountId, archiveId)).toMatchObject({ status: 'failed' });
});
