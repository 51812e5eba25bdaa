import type { UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { amountOf, at, count, countOf, isRaw, type Raw } from './raw.ts';

/**
 * True where reasoning tokens stand beside the output count and not inside it. Decided by the total, which every provider
 * that reports reasoning gives, so that it holds for xAI (chat: beside; Responses: inside) as for those who copy either.
 */
const isReasoningBeside = (input: number, output: number, reasoning: number, total: number | null): boolean =>
  reasoning > 0 && (total === null ? reasoning > output : total - input - output >= reasoning);

/**
 * Chat completions, completions, embeddings: `prompt_tokens` includes cached, audio and image tokens, `completion_tokens` includes
 * reasoning, with the exceptions noted by provider.
 */
export const readChatUsage = (raw: Raw, provider: string): UsageDraft => {
  const input = raw['prompt_tokens_details'] ?? raw['prompt_token_details'];
  const output = raw['completion_tokens_details'];
  const prompt = count(raw['prompt_tokens']);
  const completion = count(raw['completion_tokens']);
  const total = countOf(raw['total_tokens']);
  const beyond = total === null ? 0 : Math.max(0, total - prompt - completion);
  const reported = count(at(output, 'reasoning_tokens'), raw['reasoning_tokens']);
  const beside =
    isReasoningBeside(prompt, completion, reported, total) ||
    (provider === 'xai' && total === null) ||
    // Perplexity's deep research counts reasoning apart and leaves it out of the total as well.
    (provider === 'perplexity' && raw['reasoning_tokens'] !== undefined);
  // Gemini's OpenAI-style answers leave thinking out of every count but the total.
  const thinking = provider === 'google' && reported === 0 ? beyond : 0;
  // Mistral counts audio in seconds and in the total, outside prompt_tokens.
  const audio = count(at(input, 'audio_tokens'));
  const audioBeside =
    provider === 'mistral' && (count(raw['prompt_audio_seconds']) > 0 || (audio > 0 && beyond >= audio)) ? beyond : 0;
  // What Mistral's conversations read from their connectors is input that stands beside the prompt.
  const connected = count(raw['connector_tokens']);
  return {
    inputTokens: prompt + audioBeside + connected,
    outputTokens: completion + (beside ? reported : 0) + thinking,
    cacheReadTokens: count(
      at(input, 'cached_tokens'),
      raw['prompt_cache_hit_tokens'],
      raw['cached_tokens'],
      raw['num_cached_tokens'],
    ),
    cacheWriteTokens: count(at(input, 'cache_write_tokens'), at(input, 'cache_creation_tokens')),
    reasoningTokens: reported + thinking,
    inputAudioTokens: audioBeside || audio,
    inputImageTokens: count(at(input, 'image_tokens')),
    inputVideoTokens: count(at(input, 'video_tokens')),
    outputAudioTokens: count(at(output, 'audio_tokens')),
    outputImageTokens: count(at(output, 'image_tokens')),
    cacheReadAudioTokens: count(at(input, 'cached_tokens_details', 'audio_tokens')),
    cacheReadImageTokens: count(at(input, 'cached_tokens_details', 'image_tokens')),
    units: {
      audioSeconds: amountOf(raw['prompt_audio_seconds']) ?? 0,
      // Calls of connectors, by name; their fees are not known.
      otherUnits: isRaw(raw['connectors'])
        ? Object.values(raw['connectors']).reduce<number>((sum, calls) => sum + count(calls), 0)
        : 0,
    },
  };
};

/**
 * Responses, images, speech-to-text by tokens: cached, audio, image and reasoning tokens are inside the totals. Where an answer
 * of images does not tell its output apart, all of it is images; of one that speaks (as a stream of events), all is audio.
 */
export const readResponsesUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const input = raw['input_tokens_details'] ?? raw['input_token_details'];
  const output = raw['output_tokens_details'] ?? raw['output_token_details'];
  const inputTokens = count(raw['input_tokens']);
  const outputTokens = count(raw['output_tokens']);
  const reasoning = count(at(output, 'reasoning_tokens'));
  const beside = isReasoningBeside(inputTokens, outputTokens, reasoning, countOf(raw['total_tokens']));
  return {
    inputTokens,
    outputTokens: outputTokens + (beside ? reasoning : 0),
    cacheReadTokens: count(at(input, 'cached_tokens')),
    cacheWriteTokens: count(at(input, 'cache_write_tokens')),
    reasoningTokens: reasoning,
    inputAudioTokens: count(at(input, 'audio_tokens')),
    inputImageTokens: count(at(input, 'image_tokens')),
    outputAudioTokens: countOf(at(output, 'audio_tokens')) ?? (dialect === 'openai-speech' ? outputTokens : 0),
    outputImageTokens: countOf(at(output, 'image_tokens')) ?? (dialect === 'openai-images' ? outputTokens : 0),
    cacheReadAudioTokens: count(at(input, 'cached_tokens_details', 'audio_tokens')),
    cacheReadImageTokens: count(at(input, 'cached_tokens_details', 'image_tokens')),
  };
};
