import { describe, expect, it } from '@jest/globals';
import { JsonPicker } from '../../../lambda/gateway/meter/json-picker.ts';
import { SseReader } from '../../../lambda/gateway/meter/sse-reader.ts';
import { UsageMark } from '../../../lambda/gateway/meter/usage-mark.ts';

const MAX_HELD_EVENT_BYTES = 64 * 1024;

/** A reader that lists the values it picks. `events` counts the events it looks into. */
const listing = ({ modelKnown = true } = {}) => {
  const values: string[] = [];
  const state = { modelKnown, events: 0 };
  const reader = new SseReader(
    () => {
      state.events++;
      return new JsonPicker(
        { usage: 'usage', model: 'model' },
        { value: (_name, json) => values.push(json), tooLong: () => {}, documentEnd: () => {} },
        1_000,
      );
    },
    () => state.modelKnown,
    new UsageMark('usage'),
  );
  return {
    reader,
    values,
    state,
    write: (...texts: string[]) => {
      for (const text of texts) reader.write(Buffer.from(text));
    },
  };
};

const event = (document: string): string => `data: ${document}\n\n`;
const usage = (n: number): string => event(`{"usage":${n}}`);
/** Has the mark, and no usage where it counts. */
const falseMatch = event('{"delta":{"usage":"of words"}}');
const text = event('{"delta":"hi"}');

describe('events with usage', () => {
  const empty = event('{"usage":null}');

  it('are read at the end, and no others', () => {
    const { write, reader, values, state } = listing();
    write(text, usage(1), text, text);
    expect(state.events).toBe(0);
    reader.end();
    expect(values).toEqual(['1']);
    expect(state.events).toBe(1);
  });

  it('with null are not read', () => {
    const { write, reader, state } = listing();
    write(empty.repeat(3), event('{"usage" : null}'));
    reader.end();
    expect(state.events).toBe(0);
  });

  it.each<[string, string[], number[]]>([
    ['the first and the newest of many', [1, 2, 3, 4, 5, 6, 7, 8, 9].map(usage), [1, 7, 8, 9]],
    ['the first and the two newest of one piece', [[1, 2, 3, 4, 5].map(usage).join('')], [1, 4, 5]],
    ['all among nulls', [empty + [1, 2, 3].map((n) => usage(n) + empty).join('')], [1, 2, 3]],
    ['those before a false match in the same piece', [usage(1) + text + usage(2) + falseMatch], [1, 2]],
    ['those after a false match', [falseMatch + usage(1)], [1]],
    ['the first before many false matches', [usage(1), ...Array<string>(9).fill(falseMatch)], [1]],
    ['those before two false matches in pieces of their own', [usage(1), usage(2), falseMatch, falseMatch], [1, 2]],
    ['the last one, which lacks its blank line', [usage(1), usage(2).trimEnd()], [1, 2]],
  ])('keep %s, in order', (_case, pieces, kept) => {
    const { write, reader, values } = listing();
    write(...pieces);
    reader.end();
    expect(values).toEqual(kept.map(String));
  });
});

describe('an event longer than 64 KB', () => {
  const begin = 'data: {"text":"';
  const upTo = (bytes: number): string => begin + 'x'.repeat(bytes - begin.length);

  it('is held up to that length, and read as it arrives above it', () => {
    const { write, state } = listing();
    write(upTo(MAX_HELD_EVENT_BYTES));
    expect(state.events).toBe(0);
    write('x');
    expect(state.events).toBe(1);
  });

  it('is held by its own length, not by the length of what came before it in its chunk', () => {
    const { write, state } = listing();
    write(text.repeat(9_000) + begin, 'x');
    expect(state.events).toBe(0);
  });

  it.each<[string, string[], string[]]>([
    [
      'yields its usage once it has ended, and what follows it in the same chunk is read too',
      [upTo(MAX_HELD_EVENT_BYTES + 1), `","usage":2}\n\n${text}${usage(3)}`],
      ['2', '3'],
    ],
    [
      'is read after the events held before it, and before those after it',
      [usage(1), upTo(MAX_HELD_EVENT_BYTES + 1), '","usage":2}\n\n', usage(3)],
      ['1', '2', '3'],
    ],
    [
      'ends at the last length that is held, too',
      [upTo(MAX_HELD_EVENT_BYTES), `","usage":1}\n\n${usage(2)}`],
      ['1', '2'],
    ],
  ])('%s', (_case, pieces, read) => {
    const { write, reader, values } = listing();
    write(...pieces);
    reader.end();
    expect(values).toEqual(read);
  });

  it.each(['\n\n', '\r\n\r\n'])('ends at its blank line wherever that is cut: %j', (end) => {
    const tail = `","usage":2}${end}${usage(3)}`;
    for (let cut = 0; cut <= tail.length; cut++) {
      const { write, reader, values } = listing();
      write(upTo(MAX_HELD_EVENT_BYTES + 1), tail.slice(0, cut), tail.slice(cut));
      reader.end();
      expect([cut, ...values]).toEqual([cut, '2', '3']);
    }
  });
});

describe('the first events', () => {
  it('are looked into until the model is known, at most eight, comments not counted', () => {
    const { write, state } = listing({ modelKnown: false });
    write(': comment\n\n'.repeat(20), text.repeat(5));
    expect(state.events).toBe(5);
    write(text.repeat(5));
    expect(state.events).toBe(8);
  });

  it('are not looked into once the model is known', () => {
    const { write, state, values } = listing({ modelKnown: false });
    write(event('{"model":"m"}'));
    state.modelKnown = true;
    write(event('{"model":"other"}'));
    expect(values).toEqual(['"m"']);
  });
});
