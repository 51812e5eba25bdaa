import { BILLABLE } from '../../domain/usage/billable-items.ts';
import { MAX_MODEL_CHARACTERS, MAX_TIER_CHARACTERS } from '../../domain/usage/limits.ts';
import { amountOf } from '../../domain/usage/raw.ts';
import type { Reading } from '../../domain/usage/usage-event.ts';
import { JsonPicker, type PickerSink, parsed, type Wanted } from './json-picker.ts';
import { PromptCounter } from './prompt-counter.ts';
import { wantedInRequest } from './wanted.ts';

/** The facts in a request's body that decide how it is metered and priced. */
export interface BodyFacts {
  readonly model: string | null;
  /** Models that serve the request where the first does not (OpenRouter's `models`). */
  readonly fallbacks: readonly string[];
  readonly stream: boolean;
  readonly serviceTier: string | null;
  /** Counted only for an estimate. */
  readonly prompt: PromptCounter;
  readonly billableItems: Reading['billableItems'];
}

export interface RequestReader {
  write(chunk: Buffer): void;
  facts(): BodyFacts;
}

/** Text-to-speech takes 4,096 characters (OpenAI) or more (others); any other `input` is not kept. */
const MAX_VALUE_BYTES = 128 * 1024;

/** A header that does not name the field. A line that begins with `--` is a boundary. */
const HEADER = String.raw`(?:(?!--|[^\r\n]*[; ]name=)[^\r\n]+\r\n)*`;

/**
 * The fields of a multipart body that matter, each after a boundary: a file may contain what looks like one. Their values are short; .NET
 * does not quote their names. Each line can be read in one way only, so the time is linear.
 */
const multipartField = (boundary: string): RegExp =>
  new RegExp(
    String.raw`--${boundary.replace(/\W/g, '\\$&')}\r\n${HEADER}[^\r\n"]*[; ]name="?(model|stream|size|quality|seconds)"?\r\n${HEADER}\r\n([^\r\n]{1,128})\r\n`,
    'g',
  );
const MULTIPART_OVERLAP_BYTES = 512;

/** More than OpenRouter takes. */
const MAX_FALLBACKS = 16;

/** Reads a copy of the request's body in bounded memory. Keeps only the members of BodyFacts. */
export const createRequestReader = (contentType: string | undefined, path: string): RequestReader => {
  const values = new Map<string, unknown>();
  const prompt = new PromptCounter();
  const fallbacks: string[] = [];
  const isGroqChat = path.startsWith('/openai/v1/chat');

  const sink: PickerSink = {
    value: (name, json) => {
      if (name.startsWith('#')) {
        prompt.see(name);
        return;
      }
      const value = parsed(json);
      if (typeof value === 'string') {
        if (name === 'part.type') prompt.partType(value);
        else if (name === 'part.detail') prompt.detail(value);
        else if (name === 'tool.type') {
          prompt.toolType(value);
          if (value.startsWith('web_search_preview')) values.set('webSearchPreview', true);
          if (value === 'browser_search' || (isGroqChat && value === 'code_interpreter')) values.set('groqTool', true);
        } else if (name === 'fallback' && fallbacks.length < MAX_FALLBACKS)
          fallbacks.push(value.slice(0, MAX_MODEL_CHARACTERS));
        else if (name === 'tool.model') values.set(BILLABLE.imageGenModel, value);
      }
      if (name === 'input') values.set('speechCharacters', typeof value === 'string' ? [...value].length : 0);
      else if (!name.startsWith('tool.') && !name.startsWith('part.')) values.set(name, value);
    },
    measured: (name, bytes, head) => prompt.measure(name, bytes, head),
    tooLong: () => {},
    documentEnd: () => {},
  };

  const write = bodyReader(contentType ?? '', spokenMembers[/[^/]*$/.exec(path)?.[0] ?? ''], sink, values);
  let failed = false;

  return {
    write: (chunk) => {
      if (failed) return;
      try {
        write(chunk);
      } catch {
        failed = true;
        prompt.markIncomplete();
      }
    },
    facts: () => factsOf(values, prompt, fallbacks),
  };
};

/** The member with the text to speak, by the end of the path. */
const spokenMembers: Readonly<Record<string, Wanted>> = { speech: { input: 'input' }, tts: { text: 'input' } };

const bodyReader = (
  contentType: string,
  spoken: Wanted | undefined,
  sink: PickerSink,
  values: Map<string, unknown>,
): ((chunk: Buffer) => void) => {
  const boundary = /^multipart\/.*boundary="?([^";]{0,69}[^";\s])/i.exec(contentType)?.[1];
  if (boundary !== undefined) {
    const field = multipartField(boundary);
    let carry = '';
    return (chunk) => {
      // Field headers and these values are ASCII. latin1 keeps offsets correct whatever else is in the body.
      const text = carry + chunk.toString('latin1');
      for (const [, name, value] of text.matchAll(field))
        values.set(wantedInRequest[name as string] as string, value === 'true' ? true : value);
      carry = text.slice(-MULTIPART_OVERLAP_BYTES);
    };
  }
  if (contentType !== '' && !/json/i.test(contentType)) return () => {};
  const picker = new JsonPicker(spoken ? { ...wantedInRequest, ...spoken } : wantedInRequest, sink, MAX_VALUE_BYTES);
  return (chunk) => picker.write(chunk);
};

const factsOf = (
  values: ReadonlyMap<string, unknown>,
  prompt: PromptCounter,
  fallbacks: readonly string[],
): BodyFacts => {
  const text = (name: string): string | null => {
    const value = values.get(name);
    return typeof value === 'string' && value !== '' ? value.slice(0, MAX_MODEL_CHARACTERS) : null;
  };
  const billableItems: Record<string, number | string> = {};
  const speechCharacters = values.get('speechCharacters');
  if (typeof speechCharacters === 'number') billableItems[BILLABLE.speechCharacters] = speechCharacters;
  const seconds = amountOf(values.get('video.seconds'));
  if (seconds) billableItems[BILLABLE.videoSeconds] = seconds;
  for (const name of [BILLABLE.imageSize, BILLABLE.imageQuality, BILLABLE.imageGenModel]) {
    const value = text(name);
    if (value !== null) billableItems[name] = value;
  }
  if (values.get('webSearchPreview')) billableItems[BILLABLE.webSearchPreview] = 1;
  if (values.get('groqTool') && values.get('stream') === true) billableItems[BILLABLE.executedTools] = 1;
  if (text('annotation') !== null) billableItems[BILLABLE.annotation] = 1;
  if (text('billTo') === 'user_profile') billableItems[BILLABLE.billedToAnother] = 1;
  return {
    model: text('model'),
    fallbacks,
    stream: values.get('stream') === true,
    serviceTier: text('serviceTier')?.slice(0, MAX_TIER_CHARACTERS) ?? null,
    prompt,
    billableItems,
  };
};
