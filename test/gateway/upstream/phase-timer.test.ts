import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, portOf } from '../../../fixtures/listen.ts';
import { PhaseTimer } from '../../../lambda/gateway/upstream/upstream.ts';

const PHASE_MS = 20;

/** Blocks this process, as a busy machine or a long garbage collection does. */
const stall = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

describe('a timer of phases', () => {
  let expired: Error[];
  let timer: PhaseTimer;
  beforeEach(() => {
    expired = [];
    timer = new PhaseTimer((error) => expired.push(error));
  });
  afterEach(() => timer.stop());

  it('expires once, and says in which phase and after how long', async () => {
    const hasExpired = new Promise<void>((resolve) => {
      timer = new PhaseTimer((error) => {
        expired.push(error);
        resolve();
      });
    });
    timer.begin(PHASE_MS, 'waiting');
    await hasExpired;
    await sleep(PHASE_MS * 2);
    expect(expired.map(({ message }) => message)).toEqual(['waiting took more than 20 ms']);
  });

  it.each<[string, () => void]>([
    ['refreshed', () => timer.refresh()],
    ['stopped', () => timer.stop()],
    ['begun anew', () => timer.begin(60_000, 'the next')],
  ])(
    'does not count our own stall as one of the provider: what arrived meanwhile is read first, and the timer is %s',
    async (_, read) => {
      const server = createServer((socket) => socket.write('a response'));
      await listen(server);
      const socket = connect(portOf(server), '127.0.0.1');
      try {
        await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
        const isRead = once(socket, 'data');
        socket.once('data', read);
        timer.begin(PHASE_MS, 'waiting');
        stall(PHASE_MS * 3);
        await isRead;
        await setImmediate();
        expect(expired).toEqual([]);
      } finally {
        socket.destroy();
        server.close();
      }
    },
  );
});
