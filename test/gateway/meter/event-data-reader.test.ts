import { describe, expect, it } from '@jest/globals';
import { EventDataReader } from '../../../lambda/gateway/meter/event-data-reader.ts';
import type { JsonPicker } from '../../../lambda/gateway/meter/json-picker.ts';

/** The data of one event, and the index behind it in the last piece. */
const read = (...pieces: readonly string[]) => {
  let data = '';
  const reader = new EventDataReader({ write: (chunk: Buffer) => (data += chunk) } as unknown as JsonPicker);
  let end = -1;
  for (const piece of pieces) end = reader.write(Buffer.from(piece));
  return { data, end };
};

describe('the data of an event', () => {
  it.each([
    ['one line', 'data: {}\n\n', '{}', 10],
    ['no space after the colon', 'data:{}\n\n', '{}', 9],
    ['two spaces after the colon', 'data:  {}\n\n', ' {}', 11],
    ['an empty line of data', 'data:\n\n', '', 7],
    ['several lines', 'data: {\ndata: }\n\n', '{}', 17],
    ['other fields around it', 'event: x\nid: 1\ndata: {}\nretry: 5\n\n', '{}', 34],
    ['a comment', ': data: no\ndata: {}\n\n', '{}', 21],
    ['CRLF', 'data: {}\r\nid: 1\r\n\r\n', '{}\r', 19],
    ['names that begin alike', 'dat: 1\ndatas: 2\ndata_: 3\nxdata: 4\ndata: {}\n\n', '{}', 44],
    ['a long name', `${'x'.repeat(50)}data: 1\ndata: {}\n\n`, '{}', 68],
    ['a name that would fit once cut', 'aaaaaaaa\ndata: {}\n\n', '{}', 19],
  ])('%s, wherever it is cut', (_case, event, data, end) => {
    expect(read(event)).toEqual({ data, end });
    for (let cut = 1; cut < event.length; cut++) {
      const [first, second] = [event.slice(0, cut), event.slice(cut)];
      const got = read(first, second);
      // A space that arrives in the next chunk belongs to the data, where JSON ignores it.
      expect([cut, got.data.replaceAll(' ', ''), got.end]).toEqual([
        cut,
        data.replaceAll(' ', ''),
        end - Buffer.byteLength(first),
      ]);
    }
  });

  it('goes on while there is no blank line', () => {
    expect(read('data: {')).toEqual({ data: '{', end: -1 });
    expect(read('data: {}\n')).toEqual({ data: '{}', end: -1 });
    expect(read('dat')).toEqual({ data: '', end: -1 });
  });

  it('ends at the blank line, before the next event', () => {
    expect(read('data: {}\n\ndata: []\n\n')).toEqual({ data: '{}', end: 10 });
  });
});
