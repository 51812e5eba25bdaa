import { request as ask, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { emulatedQueue } from '../../fixtures/emulated-queue.ts';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import { forTests } from '../table-for-tests.ts';
import { closeEvent, openEvent } from '../usage-recorder/events.ts';
import { runOps } from './run-command.ts';

const queues = forTests(emulatedQueue);

const redrive = (...args: string[]) =>
  runOps('redrive', args, { env: { AWS_ENDPOINT_URL_SQS: queues.endpoint, USAGE_QUEUE_URL: queues.queue } });

const events = Array.from({ length: 23 }, (_, n) => JSON.stringify(n % 2 ? openEvent({ n }) : closeEvent({ n })));

/** SQS delivers at least once: the second list of messages is the first again. */
const deliveringTwice = async (endpoint: string) => {
  const lists: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const isReceiving = String(request.headers['x-amz-target']).endsWith('.ReceiveMessage');
    const { method, url: path, headers } = request;
    const [first] = lists;
    if (isReceiving && first && lists.length === 1) return response.end(lists[lists.push(first) - 1]);
    const passedOn = ask(endpoint, { method, path, headers }, async (passed) => {
      const body = await buffer(passed);
      if (isReceiving) lists.push(body);
      response.writeHead(passed.statusCode ?? 500, passed.headers).end(body);
    });
    return request.pipe(passedOn);
  });
  await listen(server);
  return server;
};

describe('npm run redrive', () => {
  it('moves usage events back to the queue and leaves what is none', async () => {
    for (const body of events) await queues.send(queues.deadLetters, body);
    await queues.send(queues.deadLetters, '{"secret": "sk-do-not-show');
    await queues.send(queues.deadLetters, JSON.stringify({ ...closeEvent(), provider: 'nobody' }));
    await queues.send(queues.deadLetters, JSON.stringify([closeEvent(), 'no event']));

    const { code, stdout } = await redrive();
    expect(code).toBe(0);
    expect(stdout).toContain('23 usage events moved back to the usage queue.');
    expect(stdout).toContain('Not a usage event: not JSON');
    expect(stdout).toContain('Not a usage event: provider: invalid_');
    expect(stdout).not.toContain('sk-do-not-show');
    expect((await queues.bodies(queues.queue)).sort()).toEqual([...events].sort());
    expect(await queues.bodies(queues.deadLetters)).toHaveLength(3);
  });

  it('moves nothing with --dry-run, and hides nothing from the run after it', async () => {
    // As on the local stack, whose queue is in a file.
    const other = await emulatedQueue(tmpdir());
    try {
      for (const body of events.slice(0, 3)) await other.send(other.deadLetters, body);
      const env = { AWS_ENDPOINT_URL_SQS: other.endpoint, USAGE_QUEUE_URL: other.queue };
      const { stdout } = await runOps('redrive', ['--dry-run'], { env });
      expect(stdout).toContain('3 usage events would be moved back');
      expect(await other.count(other.deadLetters)).toBe(3);
      expect(await other.count(other.queue)).toBe(0);
      expect((await runOps('redrive', [], { env })).stdout).toContain('3 usage events moved back');
    } finally {
      await other.stop();
    }
  });

  it('goes on where a message comes a second time', async () => {
    const other = await emulatedQueue();
    const server = await deliveringTwice(other.endpoint);
    try {
      for (const body of events) await other.send(other.deadLetters, body);
      const env = { AWS_ENDPOINT_URL_SQS: urlOf(server), USAGE_QUEUE_URL: other.queue };
      const { stdout } = await runOps('redrive', [], { env });
      expect(stdout).toContain('23 usage events moved back to the usage queue.');
      expect(await other.count(other.deadLetters)).toBe(0);
    } finally {
      await stopServer(server);
      await other.stop();
    }
  });

  it('moves nothing where npm took --dry-run for its own', async () => {
    const env = { AWS_ENDPOINT_URL_SQS: queues.endpoint, USAGE_QUEUE_URL: queues.queue, npm_config_dry_run: 'true' };
    expect(await runOps('redrive', [], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('npm took --dry-run for its own'),
    });
  });

  it('says so where the queue has no dead letters', async () => {
    expect(await redrive('--queue', queues.deadLetters)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no dead-letter queue'),
    });
  });

  it('says how it is used', async () => {
    expect(await redrive('--queue', '')).toMatchObject({ code: 2, stderr: expect.stringContaining('--dry-run') });
    expect(await redrive('--all')).toMatchObject({ code: 2, stderr: expect.stringContaining("'--all'") });
    expect(await redrive('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('npm run redrive') });
  });
});
