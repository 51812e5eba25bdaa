import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UsageChunkFilter } from '../../../lambda/gateway/relay/usage-chunk-filter.ts';
import { askForUsage } from '../../../lambda/gateway/relay/usage-option.ts';

const ask = (body: string): string | undefined => askForUsage(Buffer.from(body))?.toString();

describe('asking for usage', () => {
  it.each([
    ['{"model":"m","stream":true}', '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'],
    [
      '{ "stream" : true , "messages": [{"content":"}é"}] }\n',
      '{ "stream" : true , "messages": [{"content":"}é"}] ,"stream_options":{"include_usage":true}}\n',
    ],
    ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true,"stream_options": {}}', '{"stream":true,"stream_options": {"include_usage":true}}'],
    [
      '{"stream_options":{"include_obfuscation":false},"stream":true}',
      '{"stream_options":{"include_usage":true,"include_obfuscation":false},"stream":true}',
    ],
    [
      '{"stream":true,"messages":[{"content":"\\"stream_options\\": null"}]}',
      '{"stream":true,"messages":[{"content":"\\"stream_options\\": null"}],"stream_options":{"include_usage":true}}',
    ],
  ])('%s', (body, expected) => {
    expect(ask(body)).toBe(expected);
    expect(JSON.parse(expected)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it.each([
    ['no stream', '{"model":"m"}'],
    ['stream false', '{"stream":false}'],
    ['stream in a nested object', '{"metadata":{"stream":true}}'],
    ['asked already', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['refused by the client', '{"stream":true,"stream_options":{"include_usage":false}}'],
    ['not JSON', '{"stream":true,'],
    ['two documents', '{"stream":true}{"stream":true}'],
    ['an array', '[{"stream":true}]'],
    ['trailing nonsense', '{"stream":true} x'],
    ['an ambiguous member', '{"stream":true,"tools":[{"stream_options":{}}],"stream_options":{}}'],
  ])('not when %s', (_case, body) => {
    expect(ask(body)).toBeUndefined();
  });

  it('changes nothing else, whatever the body', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        const { stream_options: _options, ...rest } = members;
        const body = { ...rest, stream: true };
        const asked = ask(JSON.stringify(body)) as string;
        expect(JSON.parse(asked)).toEqual(
          JSON.parse(JSON.stringify({ ...body, stream_options: { include_usage: true } })),
        );
        expect(asked.replace(',"stream_options":{"include_usage":true}', '')).toBe(JSON.stringify(body));
      }),
    );
  });
});

const chunk = (content: string, usage?: unknown) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ delta: { content } }], ...(usage === undefined ? {} : { usage }) })}\n\n`;
const last = `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 1 } })}\n\n`;
const DONE = 'data: [DONE]\n\n';

const filterPieces = (pieces: Buffer[]): string => {
  const filter = new UsageChunkFilter();
  return Buffer.concat([...pieces.map((piece) => filter.write(piece)), filter.end()]).toString();
};

describe('taking out what asking added', () => {
  const texts = ['Hi', ' "usage":null \n\n ☃', '{"choices":[],"usage":{}}', 'x'.repeat(20_000)];
  const asked = texts.map((text) => chunk(text, null)).join('') + last + DONE;
  const unasked = texts.map((text) => chunk(text)).join('') + DONE;

  it.each([
    ['LF', asked, unasked],
    ['CRLF', asked.replaceAll('\n', '\r\n'), unasked.replaceAll('\n', '\r\n')],
    ['comments', `: ping\n\n${asked}`, `: ping\n\n${unasked}`],
    ['usage on a chunk with choices', chunk('a', { prompt_tokens: 1 }) + DONE, chunk('a', { prompt_tokens: 1 }) + DONE],
    ['null in front', 'data: {"usage":null,"choices":[]}\n\n', 'data: {"choices":[]}\n\n'],
    ['an error event', 'data: {"error":{"message":"usage"}}\n\n', 'data: {"error":{"message":"usage"}}\n\n'],
    ['a cut event', `${chunk('a', null)}data: {"choices":[],"us`, `${chunk('a')}data: {"choices":[],"us`],
  ])('%s', (_case, sent, seen) => {
    expect(filterPieces([Buffer.from(sent)])).toBe(seen);
  });

  it('the same wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: asked.length }), { maxLength: 12 }), (cuts) => {
        const bytes = Buffer.from(asked);
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(filterPieces(pieces) === unasked).toBe(true);
      }),
      { numRuns: 300 },
    );
    const small = chunk('é "usage":null', null) + last + DONE;
    expect(filterPieces([...Buffer.from(small)].map((byte) => Buffer.from([byte])))).toBe(
      chunk('é "usage":null') + DONE,
    );
  });

  it('passes an event too long to be held, wherever it is cut, and filters what follows', () => {
    const bytes = Buffer.from(chunk('x'.repeat(300_000)) + last + chunk('b', null) + DONE);
    const expected = chunk('x'.repeat(300_000)) + chunk('b') + DONE;
    const end = chunk('x'.repeat(300_000)).length;
    for (const cut of [end - 3, end - 2, end - 1, end, end + 1, end + 40])
      expect(
        filterPieces([bytes.subarray(0, 290_000), bytes.subarray(290_000, cut), bytes.subarray(cut)]) === expected,
      ).toBe(true);
  });

  it('holds no whole event back', () => {
    const filter = new UsageChunkFilter();
    expect(filter.write(Buffer.from(`${chunk('a', null)}data: {"id`)).toString()).toBe(chunk('a'));
    expect(filter.write(Buffer.from('":1}\n\n')).toString()).toBe('data: {"id":1}\n\n');
  });
});
