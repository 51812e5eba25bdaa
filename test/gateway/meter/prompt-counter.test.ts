import { describe, expect, it } from '@jest/globals';
import { createRequestReader } from '../../../lambda/gateway/meter/request-reader.ts';

const countBytes = (body: Buffer, pieceBytes: number) => {
  const reader = createRequestReader('application/json', '/v1/chat/completions');
  for (let at = 0; at < body.length; at += pieceBytes) reader.write(body.subarray(at, at + pieceBytes));
  return reader.facts().prompt.count();
};

const count = (request: object) => countBytes(Buffer.from(JSON.stringify(request)), 1 << 30);

const NOTHING = { messages: 0, calls: 0, textBytes: 0, toolBytes: 0, schemaBytes: 0, images: [], uncounted: [] };

/** The head of a PNG with a size. */
const png = (width: number, height: number): string => {
  const bytes = Buffer.alloc(64);
  bytes.write('89504e470d0a1a0a', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
};
const dataUrl = (width: number, height: number): string => `data:image/png;base64,${png(width, height)}`;
const image = (width: number, height: number, detail: string | null = null) => ({ width, height, detail });

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'weather', parameters } }];

describe('the prompt of', () => {
  it('an OpenAI chat has its texts, tool calls and results, tools and schema', () => {
    const request = {
      messages: [
        { role: 'system', content: 'four' },
        { role: 'user', content: [{ type: 'text', text: 'é' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
      tools,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: parameters } },
    };
    expect(count(request)).toEqual({
      ...NOTHING,
      messages: 4,
      calls: 1,
      textBytes: 4 + 2 + 'weather{"city":"Rome"}sunny'.length,
      toolBytes: JSON.stringify(tools).length,
      schemaBytes: JSON.stringify(request.response_format).length,
    });
  });

  it('a Responses request has its instructions, items and schema', () => {
    const format = { type: 'json_schema', name: 's', schema: parameters };
    expect(
      count({
        instructions: 'short',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'four' }] },
          { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'sunny' },
          { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'xxxxx' },
        ],
        text: { format },
      }),
    ).toEqual({
      ...NOTHING,
      messages: 4,
      calls: 1,
      textBytes: 'shortfourweather{}sunnyhm'.length,
      schemaBytes: JSON.stringify(format).length,
    });
    expect(count({ input: 'four' })).toEqual({ ...NOTHING, textBytes: 4 });
    expect(count({ input: ['four', 'five5'] })).toEqual({ ...NOTHING, textBytes: 9 });
  });

  it('an Anthropic request has its system prompt, tool use and results', () => {
    const input = { city: 'Rome' };
    expect(
      count({
        system: [{ type: 'text', text: 'four', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: 'six letters' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'sunny' }] }],
          },
        ],
        tools: [{ name: 'weather', input_schema: parameters }],
      }),
    ).toEqual({
      ...NOTHING,
      messages: 3,
      calls: 1,
      textBytes: `foursix lettersweather${JSON.stringify(input)}sunny`.length,
      toolBytes: JSON.stringify([{ name: 'weather', input_schema: parameters }]).length,
    });
  });

  it('a Gemini request has its instruction, function calls and responses', () => {
    const args = { x: 5 };
    const response = { output: '15' };
    expect(
      count({
        systemInstruction: { parts: [{ text: 'four' }] },
        contents: [
          { role: 'user', parts: [{ text: 'five5' }] },
          { role: 'model', parts: [{ functionCall: { name: 'f', args }, thoughtSignature: 'x'.repeat(100) }] },
          { role: 'user', parts: [{ function_response: { name: 'f', response } }] },
        ],
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        generationConfig: { responseSchema: parameters },
      }),
    ).toEqual({
      ...NOTHING,
      messages: 3,
      calls: 1,
      textBytes: `fourfive5f${JSON.stringify(args)}f${JSON.stringify(response)}`.length,
      toolBytes: JSON.stringify([{ functionDeclarations: [{ name: 'f' }] }]).length,
      schemaBytes: JSON.stringify(parameters).length,
    });
  });

  it.each<[string, object, number]>([
    ['a Gemini embedding', { content: { parts: [{ text: 'four' }] } }, 4],
    ['a batch of Gemini embeddings', { requests: [{ content: { parts: [{ text: 'four' }, { text: 'é' }] } }] }, 6],
    ['Cohere v1', { message: 'four', preamble: 'é', chat_history: [{ role: 'USER', message: 'five5' }] }, 11],
    ['a Cohere embedding', { texts: ['four', 'é'] }, 6],
    ['a completion', { prompt: ['four', 'é'], suffix: 'x' }, 7],
  ])('%s has its texts', (_name, request, textBytes) => {
    expect(count(request).textBytes).toBe(textBytes);
  });

  it('does not depend on how the body is cut, nor on white space between values', () => {
    const request = {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: dataUrl(640, 480), detail: 'low' } }] },
        { role: 'user', content: 'Zürich\n"quoted"' },
      ],
      tools,
    };
    const counted = count(request);
    expect(counted.images).toEqual([image(640, 480, 'low')]);
    expect(countBytes(Buffer.from(JSON.stringify(request, null, 2)), 1)).toEqual(counted);
  });

  it('has the length of the text that escapes stand for', () => {
    const text = '漢字'.repeat(100);
    const escaped = `{"input":"${text.replace(/./g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)}"}`;
    expect(countBytes(Buffer.from(escaped), 7).textBytes).toBe(Buffer.byteLength(text));
    const long = '漢'.repeat(10_000);
    const cut = `{"messages":[{"content":"${long.replaceAll('漢', '\\u6f22')}"},{"content":"\\u00"}]}`;
    const { textBytes } = countBytes(Buffer.from(cut), 1 << 30);
    expect(Math.abs(textBytes / Buffer.byteLength(long) - 1)).toBeLessThan(0.01);
  });
});

describe('images', () => {
  const anthropic = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(8, 9) } };
  it.each<[string, object]>([
    ['OpenAI chat', { messages: [{ content: [{ type: 'image_url', image_url: { url: dataUrl(8, 9) } }] }] }],
    ['Responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: dataUrl(8, 9) }] }] }],
    ['Anthropic', { messages: [{ content: [anthropic] }] }],
    ['an Anthropic tool result', { messages: [{ content: [{ type: 'tool_result', content: [anthropic] }] }] }],
    ['Gemini', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: png(8, 9) } }] }] }],
    ['Gemini in snake case', { contents: [{ parts: [{ inline_data: { data: png(8, 9) } }] }] }],
    ['interactions', { input: [{ type: 'image', data: png(8, 9), mime_type: 'image/png' }] }],
  ])('of %s have their size', (_name, request) => {
    expect(count(request)).toMatchObject({ images: [image(8, 9)], textBytes: 0, uncounted: [] });
  });

  it('have the detail of their part, before or after them', () => {
    const content = [
      { detail: 'low', type: 'input_image', image_url: dataUrl(1, 1) },
      { type: 'input_image', image_url: dataUrl(2, 2) },
      { type: 'input_image', image_url: dataUrl(3, 3), detail: 'high' },
    ];
    expect(count({ input: [{ role: 'user', content }] }).images).toEqual([
      image(1, 1, 'low'),
      image(2, 2),
      image(3, 3, 'high'),
    ]);
  });

  it('have no size where only their address is given', () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'low' } }];
    expect(count({ messages: [{ content }] })).toMatchObject({
      images: [{ width: null, height: null, detail: 'low' }],
      uncounted: [],
    });
  });

  it('past the 64th make the prompt a lower bound', () => {
    const content = Array.from({ length: 65 }, () => ({ type: 'image_url', image_url: { url: dataUrl(1, 1) } }));
    const { images, uncounted } = count({ messages: [{ content }] });
    expect(images).toHaveLength(64);
    expect(uncounted).toEqual(['image']);
  });
});

describe('a prompt is a lower bound', () => {
  const user = (part: object) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, part] }] });
  const pdf = Buffer.from('%PDF-1.7').toString('base64');
  it.each<[string, object, string]>([
    ['a PDF (Anthropic)', user({ type: 'document', source: { type: 'base64', data: pdf } }), 'file'],
    ['a file by id (Anthropic)', user({ type: 'document', source: { type: 'file', file_id: 'f' } }), 'stored'],
    ['a PDF (OpenAI)', user({ type: 'file', file: { file_data: `data:application/pdf;base64,${pdf}` } }), 'file'],
    ['a PDF (Responses)', { input: [{ content: [{ type: 'input_file', file_data: pdf }] }] }, 'part'],
    ['a PDF (Gemini)', { contents: [{ parts: [{ inlineData: { data: pdf } }] }] }, 'file'],
    ['a file by its address (Gemini)', { contents: [{ parts: [{ fileData: { fileUri: 'x' } }] }] }, 'file'],
    ['sound', user({ type: 'input_audio', input_audio: { data: 'x' } }), 'audio'],
    ['film', user({ type: 'video_url', video_url: { url: 'x' } }), 'video'],
    ['a part of another kind', user({ type: 'hologram' }), 'part'],
    ['a part with nothing known', { contents: [{ parts: [{ hologram: {} }] }] }, 'part'],
    ['an earlier response', { input: 'Hi', previous_response_id: 'resp_1' }, 'stored'],
    ['a conversation', { input: 'Hi', conversation: { id: 'conv_1' } }, 'stored'],
    ['a stored prompt', { input: 'Hi', prompt: { id: 'pmpt_1' } }, 'stored'],
    ['a cache', { contents: [{ parts: [{ text: 'Hi' }] }], cachedContent: 'cachedContents/c' }, 'stored'],
    ['a tool of the provider', { input: 'Hi', tools: [{ type: 'web_search' }] }, 'tool'],
    ['a tool of Gemini', { contents: [{ parts: [{ text: 'Hi' }] }], tools: [{ google_search: {} }] }, 'tool'],
    ['an MCP server', { ...user({ type: 'text', text: '' }), mcp_servers: [{ url: 'x' }] }, 'tool'],
  ])('with %s', (_name, request, uncounted) => {
    const prompt = count(request);
    expect(prompt.uncounted).toContain(uncounted);
  });

  it('but not without any of them', () => {
    const plain = { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }], previous_response_id: null };
    expect(count(plain).uncounted).toEqual([]);
    expect(count({ contents: [{ parts: [{ text: 'Hi' }] }], cachedContent: '' }).uncounted).toEqual([]);
  });
});
