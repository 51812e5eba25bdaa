import { expect, it } from '@jest/globals';
import { writeInSlices } from '../../../lambda/gateway/relay/in-slices.ts';

it('reads large bodies by turns, each slice once, and tells of a failure', async () => {
  const written: string[] = [];
  const write = (name: string, slices: number) =>
    writeInSlices(Buffer.alloc(slices * 65_536 - (name === 'b' ? 0 : 1), name), (slice) => {
      written.push(`${name}${slice.length}`);
      if (name === 'c') throw new Error('too deep');
    });
  const [a, b, c] = [write('a', 3), write('b', 2), write('c', 2)];
  expect(written).toEqual([]);
  await expect(c).rejects.toThrow('too deep');
  await Promise.all([a, b]);
  expect(written).toEqual(['a65536', 'b65536', 'c65536', 'a65536', 'b65536', 'a65535']);
  expect(write('small', 1)).toBeUndefined();
});
