import { connect, type Socket } from 'node:net';

/** What came back over a connection, and how it ended. */
export interface RawResponse {
  readonly text: string;
  /** `open`: neither side had closed it when the wait was over. */
  readonly end: 'closed' | 'reset' | 'open';
}

interface RawExchange {
  readonly port: number;
  /** Sent one after the other, each once the one before has left this process. */
  readonly pieces: readonly (string | Buffer)[];
  /** Closes the sending side after the last piece. */
  readonly halfClose?: boolean;
  /** Looks at what has come so far; true ends the wait. */
  readonly until?: (text: string) => boolean;
  readonly waitMs?: number;
}

/** Sends bytes as they stand (strings as latin1) and reads what comes until the connection ends, `until`, or the wait is over. */
export const exchangeRaw = ({ port, pieces, halfClose, until, waitMs = 60_000 }: RawExchange): Promise<RawResponse> =>
  new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.setNoDelay(true);
    let text = '';
    let finished = false;
    const finish = (end: RawResponse['end']): void => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, end });
    };
    const timer = setTimeout(() => finish('open'), waitMs);
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (until?.(text)) finish('open');
    });
    socket.on('end', () => finish('closed'));
    socket.on('close', () => finish('closed'));
    socket.on('error', () => finish('reset'));
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (finished) return;
        await new Promise<void>((sent) => {
          socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece, () => sent());
        });
      }
      if (halfClose && !finished) socket.end();
    });
  });

/** Status codes of the responses in a connection's text, in order. */
export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
