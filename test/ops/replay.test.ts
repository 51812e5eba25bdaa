import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { emulatedQueue } from '../../fixtures/emulated-queue.ts';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { refusedEventKey } from '../../lambda/data/table/keys.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { createTracker } from '../../lambda/gateway/tracking/tracker.ts';
import { findEvents } from '../../ops/events/find-events.ts';
import { sendToQueue } from '../../ops/events/usage-queue.ts';
import { forTests } from '../table-for-tests.ts';
import { closeEvent, openEvent } from '../usage-recorder/events.ts';
import { runOps } from './run-command.ts';

/** The line that the gateway itself writes when neither queue nor table takes an event. */
const lostLine = async (event: UsageEvent): Promise<string> => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
  const refuse = async () => {
    throw new Error('down');
  };
  await createTracker(refuse, refuse, { openEventDelaySeconds: 0, retryDelaysMs: [] }).close(
    event as Parameters<ReturnType<typeof createTracker>['close']>[0],
  );
  const line = String(printed.mock.calls[0]?.[0]);
  printed.mockRestore();
  return line;
};

const events = [1, 2, 3].map((n) => closeEvent({ n, tag: `"quoted", {n: ${n}} ü🦄\uffff` }));
const lines: string[] = [];
beforeAll(async () => {
  for (const event of events) lines.push(await lostLine(event));
});

describe('findEvents', () => {
  const withRuntime = () => lines.map((line) => `2026-11-20T12:00:00.000Z\t0e1f-2a\tERROR\t${line}\n`);

  it.each([
    ['as they were printed', () => lines.join('\n')],
    ['as the runtime prints them', () => withRuntime().join('')],
    [
      'as aws logs filter-log-events gives them',
      () => JSON.stringify({ events: withRuntime().map((message) => ({ timestamp: 1, message })) }, null, 2),
    ],
    [
      'as Logs Insights exports CSV',
      () =>
        `@timestamp,@message\n${withRuntime()
          .map((line) => `2026-11-20,"${line.trim().replaceAll('"', '""')}"`)
          .join('\n')}`,
    ],
    [
      'among other lines',
      () => ['START RequestId: 1', '{"level":"INFO"}', ...lines, 'REPORT {', '{"usage', ''].join('\n'),
    ],
    ['twice', () => [...lines, ...lines].join('\n')],
  ])('finds lines %s', (_, text) => {
    expect(findEvents([text()])).toEqual({ events, unreadable: 0 });
  });

  it('finds both events of a request', () => {
    const both = [openEvent({ n: 1 }), closeEvent({ n: 1 })];
    expect(findEvents(both.map((usageEvent) => JSON.stringify({ usageEvent })))).toEqual({
      events: both,
      unreadable: 0,
    });
  });

  it('says of lines that cannot be read', () => {
    const [first = '', second = ''] = lines;
    const other = second.replace('"version":1', '"version":2');
    expect(findEvents([`${first}\n${first.slice(0, -20)}`, other])).toEqual({
      events: events.slice(0, 1),
      unreadable: 2,
    });
  });
});

describe('npm run replay', () => {
  const queues = forTests(emulatedQueue);
  const replay = (args: string[], input = '') =>
    runOps('replay', args, {
      input,
      env: { AWS_ENDPOINT_URL_SQS: queues.endpoint, USAGE_QUEUE_URL: queues.queue },
    });

  it('sends at most 240,000 bytes at once', async () => {
    const sent: unknown[] = [];
    const sqs = { send: async ({ input }: SendMessageBatchCommand) => sent.push(input.Entries?.length) };
    await sendToQueue(
      sqs as never,
      queues.queue,
      ['a', 'b', 'c'].map((letter) => letter.repeat(100_000)),
    );
    expect(sent).toEqual([2, 1]);
  });

  it('sends nothing with --dry-run, and then all of it', async () => {
    const file = join(tmpdir(), 'gateway.log');
    writeFileSync(file, lines.slice(0, 2).join('\n'));
    const preview = await replay([file, '-', '--dry-run'], lines[2]);
    expect(preview).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 events (3 close, 0 open), 2026-11-20'),
    });
    expect(await queues.count(queues.queue)).toBe(0);

    expect(await replay([file, '-'], lines[2])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(': sent to'),
    });
    const sent = (await queues.bodies(queues.queue)).map((body) => JSON.parse(body));
    expect(sent).toHaveLength(3);
    expect(sent).toEqual(expect.arrayContaining(events));
  });

  it('fails where lines cannot be read, after it has sent the rest', async () => {
    const result = await replay(['-'], `${lines[0]}\n${lines[1]?.slice(0, -5)}`);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('1 events cannot be read') });
    expect(await queues.bodies(queues.queue)).toHaveLength(1);
  });

  it('finds nothing in other logs', async () => {
    expect(await replay(['-'], 'START\nEND\n')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No usage events found'),
    });
  });

  it('sends what the sweep set aside and deletes it there', async () => {
    const table = await emulatedTable();
    try {
      const day = '2026-11-20';
      const put = (id: string, event: string) =>
        table.call('PutItem', { TableName: table.name, Item: { ...refusedEventKey(day, id), event, reason: 'x' } });
      for (const event of events) await put(`${event.requestId}#close`, JSON.stringify(event));
      await put('broken#close', '{"secret":');
      const run = (...args: string[]) =>
        runOps('replay', ['--refused', day, '--table', table.name, '--queue', queues.queue, ...args], {
          env: { AWS_ENDPOINT_URL_SQS: queues.endpoint, AWS_ENDPOINT_URL_DYNAMODB: table.endpoint },
        });
      expect(await run('--dry-run')).toMatchObject({ code: 1, stdout: expect.stringContaining('would be sent') });
      expect(await run('--queue', `${queues.queue}-none`)).toMatchObject({ code: 1, stdout: '' });
      const first = await run();
      expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('1 events cannot be read') });
      expect(await queues.bodies(queues.queue)).toHaveLength(3);
      expect(await run()).toMatchObject({ stdout: expect.stringContaining('No usage events found') });
    } finally {
      await table.stop();
    }
  });

  it('wants either logs or a day', async () => {
    expect(await replay([])).toMatchObject({ code: 2, stderr: expect.stringContaining('or --refused') });
    expect(await replay(['-', '--refused', '2026-11-20'])).toMatchObject({ code: 2 });
  });
});
