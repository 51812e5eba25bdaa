/** The worst 64 KB of JSON, members of a few bytes each, take some milliseconds to read. */
const SLICE_BYTES = 64 * 1024;

interface Reading {
  readonly body: Buffer;
  readonly write: (slice: Buffer) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  at: number;
}

const waiting: Reading[] = [];

/** Reads one slice of one body. The bodies take turns. */
const readSlice = (): void => {
  const reading = waiting.shift();
  if (!reading) return;
  const { body, at, write, resolve, reject } = reading;
  try {
    write(body.subarray(at, at + SLICE_BYTES));
    reading.at += SLICE_BYTES;
    if (reading.at >= body.length) resolve();
    else waiting.push(reading);
  } catch (error) {
    reject(error);
  }
  if (waiting.length > 0) setImmediate(readSlice);
};

/**
 * Writes a body to a reader: a small one at once; a larger one in slices, of which one is read in each turn of the event loop, of all
 * bodies together. Other requests never wait longer than for one slice.
 *
 * @returns undefined where the body has been read
 */
export const writeInSlices = (body: Buffer, write: (slice: Buffer) => void): Promise<void> | undefined => {
  if (body.length <= SLICE_BYTES) {
    write(body);
    return undefined;
  }
  return new Promise((resolve, reject) => {
    waiting.push({ body, write, resolve, reject, at: 0 });
    if (waiting.length === 1) setImmediate(readSlice);
  });
};
