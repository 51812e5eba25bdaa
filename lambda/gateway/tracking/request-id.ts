import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** An id takes one random word, and four more once per millisecond. The library's pool of eight needs a system call for every few ids. */
const POOL_WORDS = 512;

/** Makes a source of request ids: UUIDv7, ascending within the process, with random bits from the operating system. */
export const requestIds = (): (() => string) => {
  const words = new Uint32Array(POOL_WORDS);
  let next = POOL_WORDS;
  const nextUint32 = (): number => {
    if (next === POOL_WORDS) {
      randomFillSync(words);
      next = 0;
    }
    return words[next++] as number;
  };
  const generator = new V7Generator({ nextUint32 });
  return () => generator.generate().toString();
};
