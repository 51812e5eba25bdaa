import { createServer } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatorClient } from '../../fixtures/emulator-client.ts';
import { listen, urlOf } from '../../fixtures/listen.ts';
import { openObjectStore } from '../../lambda/integrations/object-store.ts';
import { startSqs } from '../../local/emulators/sqs.ts';
import type { Emulator } from '../../local/emulators/worker.ts';
import { createBuckets } from '../../local/host/resources/create-resources.ts';
import { appOf, stackOf } from '../local/host/stack-of.ts';

const BUCKET = 'data-objects';
const app = appOf(stackOf('data', { Objects: { Type: 'AWS::S3::Bucket', Properties: {} } }));

let emulator: Emulator;
let s3: S3Client;
let store: ReturnType<typeof openObjectStore>;

beforeAll(async () => {
  emulator = await startSqs();
  const config = emulatorClient(emulator.endpoint);
  await createBuckets(app, config);
  // As at the second start of a stack.
  await createBuckets(app, config);
  s3 = new S3Client({ ...config, requestChecksumCalculation: 'WHEN_REQUIRED' });
  store = openObjectStore(BUCKET, s3);
});
afterAll(async () => {
  s3.destroy();
  await emulator.stop();
});

const csv = { contentType: 'text/csv', filename: 'spend.csv' };

describe('objects', () => {
  it('are read back whole, and undefined where there is none', async () => {
    await store.put('reports/a/1.csv', 'a,b\r\n', csv);
    expect(Buffer.from((await store.get('reports/a/1.csv')) ?? []).toString()).toBe('a,b\r\n');
    expect(await store.get('reports/a/2.csv')).toBeUndefined();
  });

  it('are not there for a reader of a part, where S3 denies what it does not have; of a whole one it is an error', async () => {
    const denying = createServer((_, response) =>
      response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>'),
    );
    await listen(denying);
    const client = new S3Client({ ...emulatorClient(urlOf(denying)), forcePathStyle: true, maxAttempts: 1 });
    try {
      const denied = openObjectStore(BUCKET, client);
      expect(await denied.getRange('requests/a/2026-11-20/1.ndjson.gz', 0, 10)).toBeUndefined();
      await expect(denied.get('archives/a/1/part')).rejects.toMatchObject({ name: 'AccessDenied' });
    } finally {
      client.destroy();
      denying.close();
    }
  });

  it('are downloaded by a signed link, under their name, until it expires', async () => {
    await store.put('reports/b/1.csv', 'x', csv);
    const url = await store.signGet('reports/b/1.csv', 60);
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([200, 'x']);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="spend.csv"');

    for (const [ageMs, status] of [
      [1_000, 200],
      [61_000, 403],
    ] as const) {
      const command = new GetObjectCommand({ Bucket: BUCKET, Key: 'reports/b/1.csv' });
      const signingDate = new Date(Date.now() - ageMs);
      expect((await fetch(await getSignedUrl(s3, command, { expiresIn: 60, signingDate }))).status).toBe(status);
    }
    expect((await fetch(`${url.split('?')[0]}`)).status).toBe(403);
  });

  it('are deleted by their prefix, and no others', async () => {
    await store.put('reports/c/1.csv', '1', csv);
    await store.put('reports/c/2.csv', '2', csv);
    await store.put('reports/cc/1.csv', '3', csv);
    await store.deleteAll('reports/c/');
    for await (const keys of store.list('reports/c')) expect(keys).toEqual(['reports/cc/1.csv']);
    await store.deleteAll('reports/c/');
  });

  it('are deleted page by page, and an object that stays is an error', async () => {
    const page = (key: string, NextContinuationToken?: string) => ({ Contents: [{ Key: key }], NextContinuationToken });
    const results: object[] = [page('a', 'next'), {}, page('b'), { Errors: [{ Key: 'b' }] }];
    const asked: object[] = [];
    const send = async ({ input }: { readonly input: object }) => {
      asked.push(input);
      return results.shift();
    };
    const { deleteAll } = openObjectStore(BUCKET, { send } as unknown as S3Client);
    await expect(deleteAll('reports/d/')).rejects.toThrow('1 objects could not be deleted.');
    expect(asked[2]).toMatchObject({ Prefix: 'reports/d/', ContinuationToken: 'next' });
  });

  it('are written in parts by several processes', async () => {
    const key = 'archives/a/1.tar.gz';
    const first = gzipSync(Buffer.alloc(6 * 1024 * 1024, 'ab'), { level: 0 });
    const uploadId = await store.beginUpload(key, { contentType: 'application/gzip' });
    await store.uploadPart(key, uploadId, 1, gzipSync('repeated'));
    const tags = [
      await store.uploadPart(key, uploadId, 1, first),
      await openObjectStore(BUCKET, s3).uploadPart(key, uploadId, 2, gzipSync('end')),
    ];
    await store.completeUpload(key, uploadId, tags);
    const whole = gunzipSync((await store.get(key)) ?? new Uint8Array());
    expect(whole.subarray(-5).toString()).toBe('abend');
    expect(whole.length).toBe(6 * 1024 * 1024 + 3);
  });

  it('of an upload that was given up are gone, also the second time', async () => {
    const key = 'archives/b/1.tar.gz';
    const uploadId = await store.beginUpload(key, { contentType: 'application/gzip' });
    await store.abortUpload(key, uploadId);
    await store.abortUpload(key, uploadId);
    expect(await store.get(key)).toBeUndefined();
  });
});
