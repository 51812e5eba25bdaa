import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { register } from '../../local/call-api.ts';
import { currentAssembly } from '../../local/synth.ts';

const ROOT = join(import.meta.dirname, '../..');
const OPEN_EVENT_DELAY_SECONDS = 4;

const dataDir = tmpdir();
let child: ChildProcess | undefined;
let url: string;

const start = async () => {
  const started = spawn(
    process.execPath,
    [
      'local/start.ts',
      '--mock',
      '--port',
      '0',
      '--data',
      dataDir,
      '--set',
      `OPEN_EVENT_DELAY_SECONDS=${OPEN_EVENT_DELAY_SECONDS}`,
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child = started;
  const { stdout } = started;
  url = await new Promise<string>((resolve, reject) => {
    let output = '';
    stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const [, found] = /API\s+(http:\S+)\/api/.exec(output) ?? [];
      if (found && output.includes('Ctrl-C')) resolve(found);
    });
    started.once('exit', () => reject(new Error(`The stack did not start: ${output}`)));
  });
};

await currentAssembly(ROOT, () => {});
afterAll(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

const json = async <T>(path: string, token: string): Promise<T> => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
};

describe('kill -9 in the midst of traffic', () => {
  it('loses no request with route governed, and counts none twice', async () => {
    await start();
    const { accountId, token } = await register(url);

    const governed = new Set<string>();
    let finished = 0;
    /** Resolves at the response's headers; `ended` at its end. */
    const call = async (
      prompt: string,
    ): Promise<{ readonly isGoverned: boolean; readonly ended: Promise<unknown> }> => {
      const response = await fetch(`${url}/gateway/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-key': accountId, authorization: 'Bearer sk' },
        body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: prompt }] }),
      });
      // A bypassed request was forwarded before tracking was confirmed: it may be lost, and its client can see that.
      const isGoverned = response.headers.get('x-service-route') === 'governed';
      if (isGoverned) governed.add(response.headers.get('x-service-request-id') ?? '');
      const ended = response.text().then(() => {
        finished += 1;
      });
      return { isGoverned, ended };
    };
    const quick = Array.from({ length: 3 }, async () => {
      for (;;) await (await call('Hello.')).ended;
    }).map((client) => client.catch(() => {}));
    while (finished <= 5) await sleep(20);
    const slow = async () => {
      const { isGoverned, ended } = await call('A long story. [slow]');
      return { isGoverned, outcome: ended.catch(() => 'cut') };
    };
    let stories: Awaited<ReturnType<typeof slow>>[] = [];
    // A machine may be too busy to have an event accepted before the response begins; not for ever.
    while (!stories.some(({ isGoverned }) => isGoverned)) stories = await Promise.all(Array.from({ length: 5 }, slow));
    const begun = stories.filter(({ isGoverned }) => isGoverned).length;
    child?.kill('SIGKILL');
    await Promise.all(quick);
    expect(await Promise.all(stories.map(({ outcome }) => outcome))).toEqual(stories.map(() => 'cut'));

    await start();
    interface Page {
      readonly items: readonly { readonly requestId: string; readonly outcome: string }[];
      readonly nextCursor: string | null;
    }
    const allRequests = async () => {
      const items: Page['items'][number][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page = await json(
          `/api/requests?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
          token,
        );
        items.push(...page.items);
        cursor = page.nextCursor;
      }
      return items;
    };
    const missing = async () => {
      const ids = new Set((await allRequests()).map(({ requestId }) => requestId));
      return [...governed].filter((id) => !ids.has(id));
    };
    const deadline = Date.now() + 120_000;
    while ((await missing()).length > 0 && Date.now() < deadline) await sleep(250);
    expect(await missing()).toEqual([]);

    // Bypassed requests may still arrive from the outbox.
    let requests: Page['items'] = [];
    let total = -1;
    while (total !== requests.length && Date.now() < deadline) {
      requests = await allRequests();
      total = (await json<{ readonly totals: { readonly requests: number } }>('/api/spend', token)).totals.requests;
    }
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(requests.length);
    expect(requests.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThanOrEqual(begun);
    expect(total).toBe(requests.length);
    // Starts `npm start` twice and waits for the sweep of what the killed one left.
  }, 240_000);
});
