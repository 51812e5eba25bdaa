import type { UsageDraft } from './consistent-usage.ts';
import { type Dialect, hasNoOutput } from './dialect.ts';
import { amountOf, at, count, countOf, isRaw, type Raw, sumOfCounts } from './raw.ts';
import { readSides } from './sides.ts';

/**
 * True where the output count leaves reasoning tokens out. The total decides, which every provider that reports reasoning has. This
 * covers xAI (chat leaves them out, Responses includes them) and providers that copy either.
 */
const isReasoningSeparate = (input: number, output: number, reasoning: number, total: number | null): boolean =>
  reasoning > 0 && (total === null ? reasoning > output : total - input - output >= reasoning);

/**
 * Chat completions, completions, embeddings: `prompt_tokens` includes cached, audio and image tokens, `completion_tokens` includes
 * reasoning, with exceptions by provider.
 */
export const readChatUsage = (raw: Raw, provider: string, dialect: Dialect): UsageDraft => {
  const isGemini = provider === 'google' || provider === 'vertex';
  const input = raw['prompt_tokens_details'] ?? raw['prompt_token_details'];
  const output = raw['completion_tokens_details'];
  // Gemini leaves out a completion of nothing but reasoning.
  const reportedOutput = raw['completion_tokens'] === undefined && isGemini ? 0 : raw['completion_tokens'];
  const sides = readSides({ input: raw['prompt_tokens'], output: reportedOutput, total: raw['total_tokens'] }, dialect);
  const { inputTokens: prompt, outputTokens: completion } = sides;
  const total = countOf(raw['total_tokens']);
  const beyond = total === null ? 0 : Math.max(0, total - prompt - completion);
  const reported = count(at(output, 'reasoning_tokens'), raw['reasoning_tokens']);
  const isSeparate =
    isReasoningSeparate(prompt, completion, reported, total) ||
    (provider === 'xai' && total === null) ||
    // Perplexity's deep research reports reasoning separately, and leaves it out of the total too.
    (provider === 'perplexity' && raw['reasoning_tokens'] !== undefined);
  // Gemini's OpenAI-style responses have reasoning only in the total; xAI's total includes it, whether the details list it or not.
  const thinking = (isGemini || provider === 'xai') && reported === 0 ? beyond : 0;
  const isThinkingKnown = !isGemini || total !== null || reported > 0 || hasNoOutput(dialect);
  // Mistral counts audio in seconds and in the total, outside prompt_tokens.
  const audio = count(at(input, 'audio_tokens'));
  const separateAudio =
    provider === 'mistral' && (count(raw['prompt_audio_seconds']) > 0 || (audio > 0 && beyond >= audio)) ? beyond : 0;
  // Input from connectors of Mistral's conversations, which the prompt leaves out.
  const connected = count(raw['connector_tokens']);
  return {
    gap: sides.gap ?? (isThinkingKnown ? undefined : 'derived'),
    inputTokens: prompt + separateAudio + connected,
    outputTokens: completion + (isSeparate ? reported : 0) + thinking,
    cacheReadTokens: count(
      at(input, 'cached_tokens'),
      raw['prompt_cache_hit_tokens'],
      raw['cached_tokens'],
      raw['num_cached_tokens'],
    ),
    cacheWriteTokens: count(at(input, 'cache_write_tokens'), at(input, 'cache_creation_tokens')),
    cacheWrite12hTokens: count(at(input, 'cache_write_tokens_details', 'ttl_12h_tokens')),
    reasoningTokens: reported + thinking,
    inputAudioTokens: separateAudio || audio,
    inputImageTokens: count(at(input, 'image_tokens')),
    inputVideoTokens: count(at(input, 'video_tokens')),
    outputAudioTokens: count(at(output, 'audio_tokens')),
    outputImageTokens: count(at(output, 'image_tokens')),
    cacheReadAudioTokens: count(at(input, 'cached_tokens_details', 'audio_tokens')),
    cacheReadImageTokens: count(at(input, 'cached_tokens_details', 'image_tokens')),
    units: {
      audioSeconds: amountOf(raw['prompt_audio_seconds']) ?? 0,
      // Calls of connectors, by name; their fees are unknown.
      otherUnits: sumOfCounts(raw['connectors']),
    },
  };
};

/** Usage of the models that write the code of OpenAI's vector images, which the totals leave out. */
export const svgUsagesOf = (raw: Raw): readonly Raw[] => {
  const usages = raw['svg_usage'];
  return Array.isArray(usages) ? usages.filter(isRaw) : [];
};

/**
 * Responses, images, speech-to-text by tokens: the totals include cached, audio, image and reasoning tokens. Without details, the
 * output of an images response is all images, and that of a speech response (a stream of events) is all audio.
 */
export const readResponsesUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const input = raw['input_tokens_details'] ?? raw['input_token_details'];
  const output = raw['output_tokens_details'] ?? raw['output_token_details'];
  const { inputTokens, outputTokens, gap } = readSides(
    { input: raw['input_tokens'], output: raw['output_tokens'], total: raw['total_tokens'] },
    dialect,
  );
  const reasoning = count(at(output, 'reasoning_tokens'), raw['reasoning_tokens']);
  const isSeparate = isReasoningSeparate(inputTokens, outputTokens, reasoning, countOf(raw['total_tokens']));
  const svg = (name: string) => svgUsagesOf(raw).reduce((sum, usage) => sum + count(usage[name]), 0);
  return {
    gap,
    inputTokens: inputTokens + svg('input_tokens'),
    outputTokens: outputTokens + (isSeparate ? reasoning : 0) + svg('output_tokens'),
    // The second name is Perplexity's.
    cacheReadTokens: count(at(input, 'cached_tokens'), at(input, 'cache_read_input_tokens')),
    cacheWriteTokens: count(at(input, 'cache_write_tokens'), at(input, 'cache_creation_input_tokens')),
    cacheWrite12hTokens: count(at(input, 'cache_write_tokens_details', 'ttl_12h_tokens')),
    reasoningTokens: reasoning + svg('reasoning_tokens'),
    inputAudioTokens: count(at(input, 'audio_tokens')),
    inputImageTokens: count(at(input, 'image_tokens')),
    outputAudioTokens: countOf(at(output, 'audio_tokens')) ?? (dialect === 'openai-speech' ? outputTokens : 0),
    outputImageTokens: countOf(at(output, 'image_tokens')) ?? (dialect === 'openai-images' ? outputTokens : 0),
    cacheReadAudioTokens: count(at(input, 'cached_tokens_details', 'audio_tokens')),
    cacheReadImageTokens: count(at(input, 'cached_tokens_details', 'image_tokens')),
  };
};
