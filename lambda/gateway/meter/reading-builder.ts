import { BILLABLE } from '../../domain/usage/billable-items.ts';
import type { Dialect } from '../../domain/usage/dialect.ts';
import { promptTokensOf } from '../../domain/usage/iterations.ts';
import { MAX_MODEL_CHARACTERS, MAX_RAW_USAGE_BYTES, MAX_TIER_CHARACTERS } from '../../domain/usage/limits.ts';
import { amountOf, at, count, isRaw, type Raw } from '../../domain/usage/raw.ts';
import type { Reading } from '../../domain/usage/usage-event.ts';
import { BatchTotal } from './batch-total.ts';
import { type PickerSink, parsed } from './json-picker.ts';

/** Longest picked value. Usage objects have a few hundred bytes; Anthropic's with compaction iterations a few thousand. */
export const MAX_PICKED_BYTES = MAX_RAW_USAGE_BYTES;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Replaces members of `bottom` with those of `top` that are not null: Anthropic's rule for message_delta and message_start. Servers that
 * copy its format may count the prompt in the first alone, and write zeros in the second.
 */
const overlay = (bottom: Raw, top: Raw): Raw => {
  const hasPrompt = promptTokensOf(top) > 0;
  const told = Object.entries(top).filter(
    ([name, value]) => value !== null && (value !== 0 || hasPrompt || name === 'output_tokens'),
  );
  return { ...bottom, ...Object.fromEntries(told) };
};

/** False for zeros alone. */
const hasCount = (usage: Raw): boolean => /[:[]"?[\d.]*[1-9]/.test(JSON.stringify(usage));

/** False for names alone: Vertex AI's first events have only the type of traffic. */
const hasNumber = (usage: Raw): boolean => /[:[]"?-?\d/.test(JSON.stringify(usage));

/** Anthropic's stop reason when a classifier stopped the response. */
const REFUSAL = 'refusal';

/** One with anything in it: OpenAI's fine-tuning jobs have an empty one until they fail. */
const ERROR = /^\{\s*"/;

const usageNames = ['usage', 'usageMetadata', 'xGroqUsage', 'meta', 'metadataUsage'] as const;

/** The usage object of one document, or null. One without numbers is no usage (Cohere v2 sends an empty one on failure); zeros are. */
const usageIn = (values: ReadonlyMap<string, unknown>): Raw | null => {
  const found = usageNames.map((name) => values.get(name)).filter(isRaw);
  const isUsage = (usage: Raw): boolean => usage !== values.get('meta') || 'billed_units' in usage || 'tokens' in usage;
  return found.find((usage) => hasNumber(usage) && isUsage(usage)) ?? null;
};

/** True for xAI's deferred response, whose result is fetched later: it has only an id. */
const isDeferred = (values: ReadonlyMap<string, unknown>, hasChoices: boolean): boolean =>
  values.has('requestId') && !hasChoices && !values.has('usage') && !values.has('model');

/** The members of an output item or a tool that are texts. */
type Item = Partial<Record<'type' | 'action' | 'container' | 'model', string>>;

/** A value of the last item, under the last part of its name. */
const addMember = (items: Item[], name: string, json: string): void => {
  const item = items.at(-1);
  const text = textOf(parsed(json));
  if (item && text !== '') item[name.replace(/.*\./, '') as keyof Item] = text;
};

/** Billable items that `wanted.ts` picks under their own names. */
const textItems = [
  BILLABLE.imageSize,
  BILLABLE.imageQuality,
  BILLABLE.batchFile,
  BILLABLE.responseId,
  BILLABLE.containerMemory,
];
/** Some of them may be texts. */
const countItems = [BILLABLE.batchSucceeded, BILLABLE.webSearchRequests, BILLABLE.audioSeconds, BILLABLE.videoSeconds];

/** Dialects whose responses are stored. */
const stored: readonly Dialect[] = ['openai-responses', 'gemini-interactions'];

/** Billable items that only some dialects have. */
const dialectsOf: Readonly<Record<string, readonly Dialect[]>> = {
  [BILLABLE.responseId]: stored,
  [BILLABLE.deferredId]: ['openai-chat'],
  [BILLABLE.responseStatus]: [...stored, 'async-result', 'openai-chat'],
  [BILLABLE.responseBackground]: stored,
  [BILLABLE.refused]: ['anthropic-messages'],
  [BILLABLE.imageCount]: ['openai-images', 'gemini-predict'],
  [BILLABLE.imageSize]: ['openai-images'],
  [BILLABLE.imageQuality]: ['openai-images'],
  [BILLABLE.audioSeconds]: ['openai-transcription'],
  [BILLABLE.videoSeconds]: ['unknown'],
  [BILLABLE.batchSucceeded]: ['free'],
  [BILLABLE.searchResults]: ['unknown'],
};

/**
 * Combines what the documents of a response (a JSON body, the events of a stream) report. The last usage wins, because usage
 * repeated in a stream is cumulative; nothing is summed over the events of one response. Only the lines of a batch's results
 * are summed, because each is a response of its own.
 */
export class ReadingBuilder implements PickerSink {
  /** Null unless the documents are the results of a batch. */
  readonly #batch: BatchTotal | null;
  #usage: Raw | null = null;
  /** The usage of Anthropic's message_start, which message_delta updates. */
  #startUsage: Raw | null = null;
  #isHalf = false;
  #model: string | null = null;
  #serviceTier: string | null = null;
  #billableItems = new Map<string, number | string>();

  /** The last value of each name in the current document, and its output items and tools. */
  #values = new Map<string, unknown>();
  #outputs: Item[] = [];
  #tools: Item[] = [];
  /** The models that write the code of vector images have a usage of their own. */
  #svgUsages: unknown[] = [];
  #images = 0;
  #embeddedTokens = 0;
  #groundingQueries = 0;
  /** What was seen of the document: `#choices`, `#error`, a `#part` (choice or candidate), a `#delta` (only in streams), a search … */
  #found = new Set<string>();
  #isFirstDocument = true;
  /** A choice or candidate has ended: a stream that goes on after that is whole wherever it ends. */
  #isFinished = false;

  readonly #isRepeated: boolean;

  /**
   * @param isBatch the documents are lines of a batch's results, or contain them as `#line`s
   * @param isRepeated each document has the usage up to it
   */
  constructor(isBatch = false, isRepeated = false) {
    this.#batch = isBatch ? new BatchTotal() : null;
    this.#isRepeated = isRepeated;
  }

  value(name: string, json: string): void {
    if (name === '#line') this.#takeLine();
    else if (name === '#image' || name === 'predictedImage') this.#images++;
    else if (name === 'error' && ERROR.test(json)) this.#found.add('#error');
    else if (name === 'embeddedTokens') this.#embeddedTokens += Number(parsed(json)) || 0;
    else if (name === 'svgUsage') this.#svgUsages.push(parsed(json));
    else if (name === 'groundingQueries') this.#addGroundingQueries(parsed(json));
    else if (name === '#output') this.#outputs.push({});
    else if (name === '#tool') this.#tools.push({});
    else if (name.startsWith('output.')) addMember(this.#outputs, name, json);
    else if (name.startsWith('tool.')) addMember(this.#tools, name, json);
    else if (name.startsWith('#')) this.#found.add(name);
    else {
      const value = parsed(json);
      if (name === 'tokenCount')
        this.#values.set('usageMetadata', { promptTokenCount: value, candidatesTokenCount: 0 });
      else if (value !== null && value !== undefined) this.#values.set(name, value);
    }
  }

  /** Usage past the limit is there, and not known. */
  tooLong(name: string): void {
    if (name === 'error') this.#found.add('#error');
    else if (name === 'usage' || name === 'messageUsage') this.#values.set(name, { input_tokens: -1 });
  }

  documentEnd(): void {
    const values = this.#values;
    if (this.#batch) this.#takeLine();
    else this.#takeUsage(values);
    this.#takeGrounding();
    this.#number(BILLABLE.executedTools, Number(this.#found.has('#executedTool')));
    if (this.#found.has('#search'))
      this.#billableItems.set(BILLABLE.searchResults, Number(this.#found.has('#searchResult')));
    this.#takeNames(values);
    const isQueued = isDeferred(values, this.#found.has('#choices'));
    this.#text(BILLABLE.responseStatus, values.get('status') ?? (isQueued ? 'queued' : null));
    if (isQueued) this.#text(BILLABLE.deferredId, values.get('requestId'));
    if (values.get('stopReason') === REFUSAL) this.#billableItems.set(BILLABLE.refused, 1);
    if (typeof values.get('background') === 'boolean')
      this.#billableItems.set(BILLABLE.responseBackground, Number(values.get('background')));
    for (const name of textItems) this.#text(name, values.get(name));
    for (const name of countItems) this.#number(name, amountOf(values.get(name)));
    this.#number(BILLABLE.groundingQueries, this.#groundingQueries);
    this.#number(BILLABLE.imageCount, this.#images);
    this.#takeImageGeneration(values.get('imageGenUsage'));
    this.#takeOutputs();
    this.#takeError(values);
    this.#values = new Map();
    this.#outputs = [];
    this.#tools = [];
    this.#svgUsages = [];
    this.#images = 0;
    this.#groundingQueries = 0;
  }

  get usage(): Raw | null {
    return this.#batch ? this.#batch.usage : this.#usage;
  }

  /** Called when the body ends within a document. */
  markInterrupted(): void {
    this.#isHalf = true;
  }

  /**
   * Called at the end of the body. An unfinished document counts as far as it goes.
   * @returns false if something is missing: the end of a document, or the final usage of a stream that ended early
   */
  finish(): boolean {
    const isCut = this.#values.size > 0;
    if (isCut) this.documentEnd();
    return !isCut && !this.#isHalf;
  }

  get model(): string | null {
    return this.#model;
  }

  get serviceTier(): string | null {
    return this.#serviceTier;
  }

  /** The billable items that the dialect has: members such as `id` or `data` mean something else in others. */
  billableItems(dialect: Dialect): Reading['billableItems'] {
    const items = [...this.#billableItems].filter(([name]) => dialectsOf[name]?.includes(dialect) ?? true);
    return Object.fromEntries(items);
  }

  /** The dialect according to the usage object, for a path that does not show it. */
  guessDialect(): Dialect {
    const usage = this.usage ?? {};
    if ('promptTokenCount' in usage || 'totalTokenCount' in usage) return 'gemini-generate';
    if ('billed_units' in usage) return 'cohere-chat';
    if ('total_input_tokens' in usage) return 'gemini-interactions';
    if ('prompt_tokens' in usage) return 'openai-chat';
    if ('cache_read_input_tokens' in usage || this.#startUsage) return 'anthropic-messages';
    return 'input_tokens' in usage ? 'openai-responses' : 'unknown';
  }

  #takeUsage(values: Map<string, unknown>): void {
    const start = values.get('messageUsage');
    if (isRaw(start) && hasNumber(start)) {
      this.#startUsage = start;
      this.#usage = start;
      this.#isHalf = true;
    }
    const found = usageIn(values) ?? this.#lesserUsage(values);
    if (!found) return;
    const usage = this.#svgUsages.length === 0 ? found : { ...found, svg_usage: this.#svgUsages };
    if (this.#startUsage) {
      this.#usage = overlay(this.#startUsage, usage);
      this.#startUsage = this.#usage;
      this.#isHalf &&= (usage['output_tokens'] ?? null) === null;
      return;
    }
    // Where usage is repeated, as it is from a stream's first event on, the last one is in the event that ends the choice or candidate.
    const isRepeated = this.#isRepeated || this.#usage !== null || (this.#found.has('#delta') && this.#isFirstDocument);
    this.#isFinished ||= values.has('finishReason');
    // Interactions repeat it in events without a status, of which none is the first; decisions have no status. Whether OpenAI's event for one
    // of several images has the usage of all is not said.
    this.#isHalf =
      (isRepeated && this.#found.has('#part') && !this.#isFinished) ||
      ('total_input_tokens' in usage && !values.has('status') && !this.#isFirstDocument) ||
      (this.#usage !== null && textOf(values.get('type')).startsWith('image_'));
    // Counts only grow: nothing but zeros behind them is no usage.
    if (this.#usage === null || hasCount(usage)) this.#usage = usage;
  }

  /** Reads usage that replaces no usage object: Bedrock's metrics, the cost of Together's videos, and counts of each embedding. */
  #lesserUsage(values: ReadonlyMap<string, unknown>): Raw | null {
    if (this.#usage) return null;
    const metrics = values.get('invocationMetrics');
    if (isRaw(metrics)) return metrics;
    const cost = values.get('outputsCost');
    if (typeof cost === 'number') return { cost };
    return this.#embeddedTokens > 0 ? { promptTokenCount: this.#embeddedTokens } : null;
  }

  /** Takes the previous response of a batch when the next begins, and the last at the end. */
  #takeLine(): void {
    const usage = usageIn(this.#values);
    this.#takeGrounding();
    this.#takeNames(this.#values);
    this.#values.delete('model');
    const isResult = this.#found.delete('#result') || this.#values.get('lineStatus') === 200;
    if (!usage) {
      // The cost of a result without usage is not known. Errors and moderations are free.
      if (isResult && !this.#found.has('#results')) this.#number(BILLABLE.resultsWithoutUsage, 1);
      return;
    }
    // Anthropic does not charge for a refusal without output.
    const isFree = this.#values.get('stopReason') === REFUSAL && usage['output_tokens'] === 0;
    if (!isFree) this.#batch?.add(this.#model, usage);
    this.#number(BILLABLE.batch, 1);
    for (const name of usageNames) this.#values.delete(name);
  }

  #takeNames(values: Map<string, unknown>): void {
    const model = values.get('model') ?? values.get('agent');
    if (typeof model === 'string' && model !== '') this.#model = model.slice(0, MAX_MODEL_CHARACTERS);
    const tier = values.get('latency') === 'optimized' ? 'optimized' : values.get('serviceTier');
    if (typeof tier === 'string') this.#serviceTier = tier.slice(0, MAX_TIER_CHARACTERS);
  }

  /** Records a response that is only an error although its status is below 400. */
  #takeError(values: Map<string, unknown>): void {
    const hasError = this.#found.has('#error') || values.get('type') === 'error';
    const hasChoices = this.#found.has('#choices');
    if (this.#isFirstDocument && hasError && !hasChoices && !values.has('usage') && !this.#batch)
      this.#billableItems.set(BILLABLE.responseError, 1);
    // A ping does not count as the first document.
    if (values.get('type') !== 'ping' && values.size + this.#found.size > 0) this.#isFirstDocument = false;
    this.#found.clear();
  }

  #takeOutputs(): void {
    const calls = (type: string) => this.#outputs.filter((item) => item.type === type);
    const searches = calls('web_search_call').filter(({ action = 'search' }) => action === 'search').length;
    // A reported count, which may be 0, leaves out searches that are not charged.
    if (amountOf(this.#values.get(BILLABLE.webSearchRequests)) === null)
      this.#number(BILLABLE.webSearchCalls, searches);
    this.#number(BILLABLE.fileSearchCalls, calls('file_search_call').length);
    if (!this.#values.has('imageGenUsage'))
      this.#number(BILLABLE.imageGenCalls, calls('image_generation_call').length - this.#svgUsages.length);
    const containers = [...calls('code_interpreter_call'), ...calls('shell_call')].flatMap(
      (item) => item.container ?? [],
    );
    this.#number(BILLABLE.codeContainers, new Set(containers).size);
    for (const { type = '', model } of this.#tools) {
      if (type.startsWith('web_search_preview')) this.#billableItems.set(BILLABLE.webSearchPreview, 1);
      if (type === 'image_generation') this.#text(BILLABLE.imageGenModel, model);
    }
  }

  #takeImageGeneration(value: unknown): void {
    if (!isRaw(value)) return;
    const { input_tokens_details: input, cached_tokens_details: cached, output_tokens_details: output } = value;
    const text = count(at(input, 'text_tokens'), value['input_tokens']);
    const image = count(at(input, 'image_tokens'));
    const cachedText = Math.min(text, count(at(cached, 'cached_text_tokens'), value['cached_tokens']));
    const cachedImage = Math.min(image, count(at(cached, 'cached_image_tokens')));
    this.#number(BILLABLE.imageGenInputTextTokens, text - cachedText);
    this.#number(BILLABLE.imageGenCachedTextTokens, cachedText);
    this.#number(BILLABLE.imageGenInputImageTokens, image - cachedImage);
    this.#number(BILLABLE.imageGenCachedImageTokens, cachedImage);
    const written = count(at(output, 'text_tokens'));
    this.#number(BILLABLE.imageGenOutputTextTokens, written);
    this.#number(BILLABLE.imageGenOutputTokens, count(value['output_tokens']) - written);
  }

  /** Empty and repeated queries are not charged. @see https://ai.google.dev/gemini-api/docs/google-search#pricing */
  #addGroundingQueries(value: unknown): void {
    if (!Array.isArray(value) || value.length === 0) return;
    this.#groundingQueries += new Set(value.filter((query) => query !== '')).size;
    this.#found.add('#grounded');
  }

  #takeGrounding(): void {
    this.#number(BILLABLE.groundedPrompts, Number(this.#found.delete('#grounded')));
    this.#number(BILLABLE.mapsPrompts, Number(this.#found.delete('#mapped')));
  }

  #text(name: string, value: unknown): void {
    if (typeof value === 'string' && value !== '') this.#billableItems.set(name, value.slice(0, 128));
  }

  /** Events of one stream repeat growing counts, so the largest is kept. Lines of a batch are added up. */
  #number(name: string, value: unknown): void {
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return;
    const before = Number(this.#billableItems.get(name) ?? 0);
    this.#billableItems.set(name, this.#batch ? before + value : Math.max(before, value));
  }
}
