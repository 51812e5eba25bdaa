import { describe, expect, it } from '@jest/globals';
import { firstEventEnd, LineEnds, lastEventEnd } from '../../../lambda/gateway/meter/sse-framing.ts';

describe('the ends of events', () => {
  it.each([
    ['a\n\nb\n\nc', 0, 3, 6],
    ['a\r\n\r\nb\r\n\r\n', 0, 5, 10],
    ['a\n\r\nb', 0, 4, 4],
    ['a\n\nb\n\n', 3, 6, 6],
    ['a\nb\nc', 0, -1, -1],
    ['', 0, -1, -1],
    ['\n', 0, -1, -1],
    ['\n\n', 0, 2, 2],
    ['a\r\rb', 0, -1, -1],
  ])('in %j from %i: the first at %i, the last at %i', (text, from, first, last) => {
    expect(firstEventEnd(Buffer.from(text), from)).toBe(first);
    expect(lastEventEnd(Buffer.from(text))).toBe(last);
  });

  it('the last one before an index', () => {
    const bytes = Buffer.from('a\n\nb\n\nc');
    expect([0, 1, 2, 3, 5, 6, 7].map((before) => lastEventEnd(bytes, before))).toEqual([-1, -1, -1, 3, 3, 6, 6]);
  });
});

describe('line ends', () => {
  const convert = (...pieces: readonly string[]): string => {
    const lineEnds = new LineEnds();
    return pieces.map((piece) => lineEnds.write(Buffer.from(piece)).toString()).join('');
  };
  const inTwo = (text: string): string[] =>
    Array.from({ length: text.length - 1 }, (_, cut) => convert(text.slice(0, cut + 1), text.slice(cut + 1)));

  it.each(['a\nb\n\nc', 'a\r\nb\r\n\r\nc', 'a\nb\rc\n\n', 'no line end'])('stay in %j', (text) => {
    expect(convert(text)).toBe(text);
    expect(new Set(inTwo(text))).toEqual(new Set([text]));
  });

  it.each([
    ['a\rb\r\rc', 'a\nb\n\nc'],
    ['\r\rc', '\n\nc'],
    ['a\rb\n', 'a\nb\n'],
  ])('of CR alone become LF: %j', (text, converted) => {
    expect(convert(text)).toBe(converted);
    expect(new Set(inTwo(text))).toEqual(new Set([converted]));
  });
});
