import { describe, expect, it } from '@jest/globals';
import { closeEventSchema } from '../../../lambda/domain/usage/usage-event.ts';
import { emptyReading } from '../../../lambda/gateway/meter/meter.ts';
import { createRequestReader } from '../../../lambda/gateway/meter/request-reader.ts';

const MULTIPART = 'multipart/form-data; boundary=b';

const read = (pieces: readonly string[], { contentType = 'application/json', path = '/v1/chat/completions' } = {}) => {
  const reader = createRequestReader(contentType, path);
  for (const piece of pieces) reader.write(Buffer.from(piece, 'latin1'));
  const { prompt: _prompt, ...facts } = reader.facts();
  return facts;
};

const NOTHING = { model: null, fallbacks: [], stream: false, serviceTier: null, billableItems: {} };

const field = (name: string, value: string, headers = ''): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${headers}\r\n${value}\r\n`;

describe('a multipart form', () => {
  const body = [
    field('prompt', 'a cat'),
    field('size', '1024x1792'),
    field('file', `${'\xff\x00name="model"'.repeat(20)}.`),
    field('seconds', '12'),
    field('quality', 'high', 'Content-Type: text/plain\r\n'),
    field('model', 'sora-2'),
    field('stream', 'true'),
    '--b--\r\n',
  ].join('');
  const facts = {
    ...NOTHING,
    model: 'sora-2',
    stream: true,
    billableItems: { 'image.size': '1024x1792', 'image.quality': 'high', 'video.seconds': 12 },
  };
  const readForm = (pieces: readonly string[]) => read(pieces, { contentType: MULTIPART });

  it('reads its fields in one piece', () => {
    expect(readForm([body])).toEqual(facts);
  });

  it('reads the same fields wherever it is cut', () => {
    for (let cut = 1; cut < body.length; cut++)
      expect([cut, readForm([body.slice(0, cut), body.slice(cut)])]).toEqual([cut, facts]);
    expect(readForm([...body])).toEqual(facts);
  });

  it('reads fields whose names are not quoted, as .NET writes them', () => {
    expect(readForm([body.replaceAll(/; name="(\w+)"/g, '; name=$1')])).toEqual(facts);
    const file = '--b\r\nContent-Disposition: form-data; name=file; filename=model\r\n\r\nRIFF\r\n';
    expect(readForm([`${file}--b--\r\n`])).toEqual(NOTHING);
  });

  it('reads a field after a long file that arrives in small pieces', () => {
    const long = field('file', 'x'.repeat(5_000)) + field('model', 'whisper-1');
    expect(readForm(long.match(/.{1,100}/gs) ?? [])).toEqual({ ...NOTHING, model: 'whisper-1' });
  });

  it('does not take the value of the next field for a name that ends a file', () => {
    const form = field('file', 'text name="model"') + field('prompt', 'a cat') + field('model', 'whisper-1');
    expect(readForm([form])).toEqual({ ...NOTHING, model: 'whisper-1' });
    expect(readForm([field('file', 'text name="model"') + field('prompt', 'a cat')])).toEqual(NOTHING);
  });

  it('does not take what looks like a field within a file for one', () => {
    const file = 'Content-Disposition: form-data; name="model"\r\n\r\ngpt-5\r\n';
    expect(readForm([field('model', 'whisper-1') + field('file', `text\r\n${file}`)]).model).toBe('whisper-1');
    expect(readForm([field('file', `text\r\n--a\r\n${file}`)])).toEqual(NOTHING);
    expect(readForm([field('file"; filename="a; name=model', 'text')])).toEqual(NOTHING);
  });

  it.each([
    'multipart/form-data; boundary="--(a b)+c?" ; charset=utf-8',
    'Multipart/Form-Data; charset=utf-8; BOUNDARY=--(a b)+c?',
  ])('reads its fields by the boundary of %s', (contentType) => {
    const form = field('model', 'whisper-1').replace('--b', '----(a b)+c?');
    expect(read([form], { contentType }).model).toBe('whisper-1');
    expect(read([form.replace('a b', 'A b')], { contentType })).toEqual(NOTHING);
  });

  it.each([
    ['lines', ' name=size\r\n'],
    ['boundaries', '--b\r\n'],
  ])(
    'reads %s that look like the beginning of a field in linear time',
    async (_, line) => {
      const { model } = readForm(['--b\r\n', line.repeat(65_536), field('model', 'whisper-1')]);
      // Linear time is some milliseconds, quadratic minutes: then this test's limit has passed by the next turn.
      await new Promise((resolve) => setTimeout(resolve));
      expect(model).toBe('whisper-1');
    },
    15_000,
  );

  it('does not read a value of more than 128 characters, nor other fields', () => {
    expect(readForm([field('model', 'm'.repeat(128))]).model).toBe('m'.repeat(128));
    expect(readForm([field('model', 'm'.repeat(129))])).toEqual(NOTHING);
    expect(readForm([field('model_name', 'x'), field('models', 'x')].map(String))).toEqual(NOTHING);
  });

  it('reads stream=false as not streamed', () => {
    expect(readForm([field('stream', 'false')]).stream).toBe(false);
    expect(readForm([field('stream', 'yes')]).stream).toBe(false);
  });
});

describe('a JSON body', () => {
  it('keeps the first models that may serve the request', () => {
    const models = ['a', 1, ...Array.from({ length: 20 }, (_, n) => `m${n}`)];
    const { fallbacks } = read([JSON.stringify({ model: 'm', models })]);
    expect([fallbacks.length, fallbacks.slice(0, 2)]).toEqual([16, ['a', 'm0']]);
  });

  it('keeps the facts that decide metering and price', () => {
    const body = {
      model: 'gpt-5',
      stream: true,
      service_tier: 'flex',
      tools: [{ type: 'web_search_preview_2025_03_11' }, { type: 'image_generation', model: 'gpt-image-1' }],
      size: '1024x1024',
      quality: 'low',
      seconds: '8',
    };
    expect(read([JSON.stringify(body)])).toEqual({
      ...NOTHING,
      model: 'gpt-5',
      stream: true,
      serviceTier: 'flex',
      billableItems: {
        'image.size': '1024x1024',
        'image.quality': 'low',
        'video.seconds': 8,
        'image_gen.model': 'gpt-image-1',
        web_search_preview: 1,
      },
    });
  });

  it.each([
    ['an empty model', '{"model":""}'],
    ['a model that is no text', '{"model":7}'],
    ['a stream that is no boolean', '{"stream":"true"}'],
    ['no seconds', '{"seconds":0}'],
    ['negative seconds', '{"seconds":-3}'],
    ['seconds that are no number', '{"seconds":"many"}'],
    ['seconds without end', '{"seconds":1e999}'],
    ['seconds without end as text', '{"seconds":"Infinity"}'],
    ['a tool of another kind', '{"tools":[{"type":"function","name":"web_search_preview"}]}'],
    ['malformed JSON', '{"model":'],
  ])('ignores %s', (_case, body) => {
    expect(read([body])).toEqual(NOTHING);
  });

  it('cuts a model’s name to 128 characters, and a service tier to 64', () => {
    const { model, serviceTier } = read([JSON.stringify({ model: 'm'.repeat(300), service_tier: 't'.repeat(100) })]);
    expect([model, serviceTier]).toEqual(['m'.repeat(128), 't'.repeat(64)]);
  });

  it.each([
    ['/v1/chat/completions', { model: 'm'.repeat(300), service_tier: 't'.repeat(100), size: 's'.repeat(300) }],
    [`/v1beta/models/${'m'.repeat(300)}:generateContent`, {}],
    [`/model/${'m'.repeat(300)}/invoke`, {}],
  ])('makes a reading that the recorder takes, however long its names are: %#', async (path, body) => {
    const reader = createRequestReader('application/json', path);
    reader.write(Buffer.from(JSON.stringify(body)));
    const reading = await emptyReading({ method: 'POST', path, facts: () => reader.facts() });
    expect(closeEventSchema.shape.reading.parse(JSON.parse(JSON.stringify(reading)))).toEqual(reading);
    expect(reading.modelRequested).toBe('m'.repeat(128));
  });

  it('counts the input’s characters for speech alone', () => {
    const body = JSON.stringify({ input: 'abc' });
    expect(read([body], { path: '/v1/audio/speech' }).billableItems).toEqual({ 'speech.characters': 3 });
    expect(read([body], { path: '/v1/responses' })).toEqual(NOTHING);
    expect(read(['{"input":["abc"]}'], { path: '/v1/audio/speech' }).billableItems).toEqual({ 'speech.characters': 0 });
  });

  it.each([
    ['application/json; charset=utf-8', 'm'],
    ['APPLICATION/JSON', 'm'],
    ['application/vnd.api+json', 'm'],
    ['text/plain', null],
    ['application/octet-stream', null],
  ])('of content type %s has the model %s', (contentType, model) => {
    expect(read(['{"model":"m"}'], { contentType }).model).toBe(model);
  });

  it('is read without a content type too', () => {
    const reader = createRequestReader(undefined, '/v1/chat/completions');
    reader.write(Buffer.from('{"model":"m"}'));
    expect(reader.facts().model).toBe('m');
  });
});
