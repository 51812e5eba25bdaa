import { describe, expect, it } from '@jest/globals';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { ConnectionMeter } from '../../../lambda/gateway/websocket/connection-meter.ts';

/** The readings of a connection with these messages, in the order in which its responses end. */
const readingsOf = (
  dialect: Reading['dialect'],
  messages: readonly (object | string)[],
  model: string | null = 'some-model',
): { readings: Reading[]; begun: number; isWhole: boolean } => {
  const readings: Reading[] = [];
  let begun = 0;
  const meter = new ConnectionMeter({
    dialect,
    model,
    beginResponse: () => {
      begun += 1;
      return (reading) => readings.push(reading);
    },
  });
  const { provider } = meter;
  for (const message of messages) {
    const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    for (let at = 0; at < bytes.length; at += 1_000) provider.onData(bytes.subarray(at, at + 1_000));
    provider.onMessageEnd();
  }
  meter.end();
  return { readings, begun, isWhole: meter.isWhole };
};

const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
const created = (id: string) => ({ type: 'response.created', response: { id, status: 'in_progress' } });
const done = (id: string, type = 'response.done') => ({ type, response: { id, status: 'completed', usage } });

describe('a connection to OpenAI', () => {
  const openai = (...messages: (object | string)[]) => readingsOf('openai-responses', messages);

  it('has a response for each id, also without its beginning', () => {
    const { readings, begun } = openai(created('a'), created('b'), done('b'), done('c'), done('a'));
    expect(begun).toBe(3);
    expect(readings.map(({ usage: read, complete }) => [read, complete])).toEqual(Array(3).fill([usage, true]));
  });

  it.each(['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'])(
    'ends a response with %s',
    (type) => {
      expect(openai(created('a'), done('a', type)).readings).toMatchObject([{ usage, complete: true }]);
    },
  );

  it('does not end a response with the end of a part of it, nor begin one with a delta', () => {
    const { readings, begun } = openai(
      { type: 'response.output_text.delta', delta: 'Hi', response_id: 'x' },
      created('a'),
      { type: 'response.output_item.done', item: { type: 'message', content: [] } },
      { type: 'response.content_part.done', part: {} },
    );
    expect(begun).toBe(1);
    expect(readings).toMatchObject([{ usage: null, usageSource: 'none', complete: false }]);
  });

  it('ends the oldest response when more than 64 have begun', () => {
    const { readings } = openai(...Array.from({ length: 65 }, (_, i) => created(`r${i}`)), done('r64'));
    expect(readings).toHaveLength(65);
    expect(readings[0]).toMatchObject({ complete: false });
    expect(readings.filter(({ usage: read }) => read !== null)).toHaveLength(1);
  });

  it('survives messages that are no JSON', () => {
    const { readings } = openai('{"type":"response.cre', 'hello', '[1,2', '', created('a'), done('a'));
    expect(readings).toMatchObject([{ usage, complete: true }]);
  });

  it('is not whole with a message of too many values, or a usage that is too long', () => {
    const output = Array.from({ length: 5_000 }, () => ({ type: 'message' }));
    expect(openai({ type: 'response.done', response: { id: 'a', output, usage } }).isWhole).toBe(false);
    const long = { ...usage, padding: 'x'.repeat(100_000) };
    expect(openai({ type: 'response.done', response: { id: 'a', usage: long } }).isWhole).toBe(false);
    const action = { type: 'x'.repeat(10_000) };
    const large = Array.from({ length: 120 }, () => ({ type: 'message', action }));
    expect(openai({ type: 'response.done', response: { id: 'a', output: large, usage } }).isWhole).toBe(false);
    expect(openai(created('a'), done('a')).isWhole).toBe(true);
  });

  it('prefers the model that the provider names, and records a transcription without usage as such', () => {
    const { readings } = openai(
      { type: 'session.created', session: { model: 'served', input_audio_transcription: { model: 'whisper-1' } } },
      done('a'),
      { type: 'conversation.item.input_audio_transcription.completed', transcript: 'Hi' },
      {
        type: 'conversation.item.input_audio_transcription.completed',
        usage: { type: 'duration', seconds: 12 },
      },
    );
    expect(readings).toMatchObject([
      { modelRequested: 'some-model', modelServed: 'served' },
      { dialect: 'openai-transcription', modelRequested: 'whisper-1', usage: null, complete: true },
      { dialect: 'openai-transcription', usage: { seconds: 12 } },
    ]);
  });
});

describe('a connection to Gemini Live', () => {
  const live = (...messages: object[]) => readingsOf('gemini-generate', messages);
  const part = { serverContent: { modelTurn: { parts: [{ text: 'Hi' }] } } };
  const complete = { serverContent: { turnComplete: true } };
  const used = (total: number) => ({ usageMetadata: { promptTokenCount: total, totalTokenCount: total } });
  const totals = (...messages: object[]) =>
    live(...messages).readings.map(({ usage: read, complete: isWhole }) => [
      read?.['totalTokenCount'] ?? null,
      isWhole,
    ]);

  it('keeps the last usage of a turn, wherever it comes', () => {
    expect(totals(part, used(5), used(5), part, { ...complete, ...used(9) })).toEqual([[9, true]]);
    expect(totals(part, complete, used(9), part, complete, used(11))).toEqual([
      [9, true],
      [11, true],
    ]);
  });

  it('has a response for a call of a tool with usage, and one for what follows', () => {
    const call = { toolCall: { functionCalls: [{ name: 'f' }] } };
    expect(totals({ ...call, ...used(20) }, part, { ...complete, ...used(30) })).toEqual([
      [20, true],
      [30, true],
    ]);
    expect(totals(call, part, { ...complete, ...used(30) })).toEqual([[30, true]]);
  });

  it('begins a new response where the usage becomes smaller', () => {
    expect(totals(part, used(50), used(9), complete)).toEqual([
      [50, true],
      [9, true],
    ]);
  });

  it('adds up the usages of live translation, which has no turns', () => {
    const translated = (total: number, text: number) => ({
      serverContent: {},
      usageMetadata: {
        totalTokenCount: total,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: text },
          { modality: 'AUDIO', tokenCount: total / 2 },
        ],
      },
    });
    const messages = [translated(100, 500), part, translated(50, 520), translated(50, 540), translated(60, 560), part];
    const { readings } = readingsOf('gemini-generate', messages, 'gemini-3.5-live-translate-preview');
    expect(readings).toMatchObject([
      {
        usage: { totalTokenCount: 260, promptTokensDetails: [{ tokenCount: 2_120 }, { tokenCount: 130 }] },
        complete: false,
      },
    ]);
  });

  it('records a turn whose usage never comes, and one that is interrupted', () => {
    expect(totals(part, complete, part)).toEqual([
      [null, true],
      [null, false],
    ]);
  });

  it('has no response without a turn', () => {
    expect(totals({ setupComplete: {} }, { goAway: {} }, complete, { sessionResumptionUpdate: {} })).toEqual([]);
  });

  it('counts its searches', () => {
    const grounded = {
      serverContent: { modelTurn: { parts: [] }, groundingMetadata: { webSearchQueries: ['a', 'b'] } },
    };
    expect(live(grounded, { ...complete, ...used(3) }).readings[0]?.billableItems).toEqual({
      'grounding.queries': 2,
      'grounding.prompts': 1,
    });
  });
});
