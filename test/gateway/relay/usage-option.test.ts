import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Provider, providerByLabel } from '../../../lambda/domain/providers.ts';
import { UsageChunkFilter } from '../../../lambda/gateway/relay/usage-chunk-filter.ts';
import { askForUsage, headersForAskedUsage, mayAskForUsage } from '../../../lambda/gateway/relay/usage-option.ts';

/** Of a small body, which is read at once. */
const ask = (body: string): string | undefined => (askForUsage(Buffer.from(body)) as Buffer | undefined)?.toString();

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
    ['asked already, in escapes', String.raw`{"stream":true,"stream_options":{"include\u005Fusage":true}}`],
    ['a member in escapes', String.raw`{"stream":true,"tools":[{"stream_options":{}}],"stream_option\u0073":{}}`],
    [
      'options that are none, and a nested member',
      '{"stream":true,"stream_options":1,"tools":[{"stream_options":{}}]}',
    ],
    ['an ambiguous member', '{"stream":true,"tools":[{"stream_options":{}}],"stream_options":{}}'],
  ])('not when %s', (_case, body) => {
    expect(ask(body)).toBeUndefined();
  });

  it('leaves options alone that are too long to be read, which may have the member already', () => {
    const long = JSON.stringify('x'.repeat(5_000));
    expect(ask(`{"stream":true,"stream_options":{"x":${long},"include_usage":true}}`)).toBeUndefined();
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

describe('removing what the option added', () => {
  const texts = ['Hi', ' "usage":null \n\n ☃', '{"choices":[],"usage":{}}', 'x'.repeat(20_000)];
  const asked = texts.map((text) => chunk(text, null)).join('') + last + DONE;
  const unasked = texts.map((text) => chunk(text)).join('') + DONE;

  it.each([
    ['LF', asked, unasked],
    ['CRLF', asked.replaceAll('\n', '\r\n'), unasked.replaceAll('\n', '\r\n')],
    ['comments', `: ping\n\n${asked}`, `: ping\n\n${unasked}`],
    ['usage on a chunk with choices', chunk('a', { prompt_tokens: 1 }) + DONE, chunk('a', { prompt_tokens: 1 }) + DONE],
    ['null in front, and spaces', 'data: {"usage": null, "choices": []}\n\n', 'data: {"choices": []}\n\n'],
    ['null in front', 'data: {"usage":null,"choices":[]}\n\n', 'data: {"choices":[]}\n\n'],
    ['an error event', 'data: {"error":{"message":"usage"}}\n\n', 'data: {"error":{"message":"usage"}}\n\n'],
    ['a usage chunk without its blank line', `${chunk('a', null)}${last.trimEnd()}`, chunk('a')],
    ['a usage chunk that is cut', `${chunk('a', null)}${last.slice(0, -9)}`, chunk('a')],
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

  it('does not hold a whole event', () => {
    const filter = new UsageChunkFilter();
    expect(filter.write(Buffer.from(`${chunk('a', null)}data: {"id`)).toString()).toBe(chunk('a'));
    expect(filter.write(Buffer.from('":1}\n\n')).toString()).toBe('data: {"id":1}\n\n');
  });

  it('holds an unfinished event of up to 256 KB, and passes on a longer one as it arrives', () => {
    const limit = 256 * 1024;
    const begin = 'data: {"choices":[],"usage":{},"x":"';
    const held = new UsageChunkFilter();
    expect(held.write(Buffer.from(begin.padEnd(limit, 'x')))).toHaveLength(0);
    expect(held.write(Buffer.from('"}\n\n'))).toHaveLength(0);
    expect(held.end()).toHaveLength(0);

    const passed = new UsageChunkFilter();
    const long = begin.padEnd(limit + 1, 'x');
    const first = passed.write(Buffer.from(chunk('a', null) + long)).toString();
    expect(first).toBe(chunk('a') + long.slice(0, first.length - chunk('a').length));
    expect(long.length + chunk('a').length - first.length).toBeLessThanOrEqual(64);
    expect(passed.write(Buffer.from('more'))).toHaveLength(4);
    expect(passed.write(Buffer.from(`"}\n\n${last}`)).toString()).toMatch(/more"}\n\n$/);
    expect(passed.end()).toHaveLength(0);
  });

  it('removes the null of an event that is too long to be held, wherever it is cut', () => {
    const long = 'x'.repeat(300_000);
    const text = JSON.stringify({ content: '","usage":null' });
    for (const [sent, seen] of [
      [`data: {"a":"${long}","usage":null,"b":${text}}\n\n`, `data: {"a":"${long}","b":${text}}\n\n`],
      [`data: {"a":"${long}" , "usage" : null}\n\n`, `data: {"a":"${long}" }\n\n`],
      [`data: {"usage":null,"a":"${long}"}\n\n`, `data: {"a":"${long}"}\n\n`],
      [`data: ${' '.repeat(300_000)}{"usage":null,"a":1}\n\n`, `data: ${' '.repeat(300_000)}{"a":1}\n\n`],
      [`data: {"a":"${long}","usage":{"x":1}}\n\n`, `data: {"a":"${long}","usage":{"x":1}}\n\n`],
    ] as const) {
      const member = sent.indexOf('"usage"');
      const [bytes, expected] = [Buffer.from(sent + chunk('b', null) + last + DONE), seen + chunk('b') + DONE];
      for (let cut = member - 3; cut < member + 18; cut++)
        for (const step of [1, 7, 1000]) {
          const pieces = [0, 290_000, cut, cut + step, cut + 2 * step].sort((a, b) => a - b);
          expect([
            cut,
            step,
            filterPieces(pieces.map((from, index) => bytes.subarray(Math.max(0, from), pieces[index + 1]))) ===
              expected,
          ]).toEqual([cut, step, true]);
        }
    }
  });

  it('passes a long event that is interrupted', () => {
    for (const end of ['"usage":nul', '"choices":[],"usage":{"a']) {
      const long = `data: {"a":"${'x'.repeat(300_000)}",${end}`;
      expect(filterPieces([Buffer.from(long)])).toBe(long);
    }
  });

  it.each(['\n\n', '\r\n\r\n'])('finds the end of an event it passes on, wherever it is cut: %j', (end) => {
    const begin = `data: ${'x'.repeat(300_000)}`;
    const tail = `yz${end}`;
    const following = (last + chunk('b', null)).replaceAll('\n\n', end);
    for (let first = 0; first <= tail.length; first++)
      for (let second = first; second <= tail.length; second++)
        for (const longEnd of [0, first]) {
          const filter = new UsageChunkFilter();
          const out = [
            begin + tail.slice(0, longEnd),
            tail.slice(longEnd, first),
            tail.slice(first, second),
            tail.slice(second) + following,
          ].map((piece) => filter.write(Buffer.from(piece)));
          expect(Buffer.concat(out).subarray(300_000).toString()).toBe(
            begin.slice(300_000) + tail + chunk('b').replaceAll('\n\n', end),
          );
        }
  });
});

describe('when the gateway may ask for usage', () => {
  const [openai, mistral] = ['openai', 'mistral'].map((label) => providerByLabel(label) as Provider) as [
    Provider,
    Provider,
  ];
  const PATH = '/v1/chat/completions';
  const JSON_OF = (length: string) => ['Content-Type', 'application/json', 'Content-Length', length];
  const headers = JSON_OF('100');

  it.each<[string, Provider, string, string, string[]]>([
    ['a chat', openai, 'POST', PATH, headers],
    ['a completion', openai, 'POST', '/v1/completions', headers],
    [
      'JSON with a charset',
      openai,
      'POST',
      PATH,
      ['Content-Type', 'Application/JSON; charset=utf-8', ...headers.slice(2)],
    ],
    ['16 MB', openai, 'POST', PATH, JSON_OF(String(16 * 2 ** 20))],
    ['chunks', openai, 'POST', PATH, [...headers.slice(0, 2), 'Transfer-Encoding', 'chunked']],
    ['usage not switched off', openai, 'POST', PATH, [...headers, 'X-Service-Usage', 'on']],
  ])('it may for %s', (_case, provider, method, path, given) => {
    expect(mayAskForUsage(provider, method, path, given)).toBe(true);
  });

  it.each<[string, Provider, string, string, string[]]>([
    ['a provider that reports it unasked', mistral, 'POST', PATH, headers],
    ['another method', openai, 'PUT', PATH, headers],
    ['another endpoint', openai, 'POST', '/v1/responses', headers],
    ['another content type', openai, 'POST', PATH, ['Content-Type', 'text/json', ...headers.slice(2)]],
    ['no content type', openai, 'POST', PATH, headers.slice(2)],
    ['a compressed body', openai, 'POST', PATH, [...headers, 'Content-Encoding', 'gzip']],
    ['usage switched off', openai, 'POST', PATH, [...headers, 'X-Service-Usage', ' OFF ']],
    ['an empty body', openai, 'POST', PATH, JSON_OF('0')],
    ['more than 16 MB', openai, 'POST', PATH, JSON_OF(String(16 * 2 ** 20 + 1))],
    ['no body', openai, 'POST', PATH, headers.slice(0, 2)],
  ])('it may not for %s', (_case, provider, method, path, given) => {
    expect(mayAskForUsage(provider, method, path, given)).toBe(false);
  });

  it('the headers get the new length and ask for no compression; the others stay', () => {
    const given = ['X-A', '1', 'content-length', '7', 'Accept-Encoding', 'gzip', 'accept-encoding', 'br', 'X-A', '2'];
    expect(headersForAskedUsage(given, 45)).toEqual([
      ...['X-A', '1', 'content-length', '45', 'X-A', '2'],
      ...['Accept-Encoding', 'identity'],
    ]);
    expect(headersForAskedUsage(['X-A', '1'], 45)).toEqual([
      ...['X-A', '1', 'Content-Length', '45'],
      ...['Accept-Encoding', 'identity'],
    ]);
  });
});
