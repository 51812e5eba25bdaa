import type { UsageDraft } from './consistent-usage.ts';
import { areAttempts, iterationsOf } from './iterations.ts';
import { at, count, countOf, isRaw, type Raw } from './raw.ts';
import { hasUnreadable } from './sides.ts';

/** The kinds of tokens that are read, and a total, which is compared with the sides elsewhere. */
const KNOWN = /^(input|output|total|cache_(read|creation)_input)_tokens$/;

const oneMessage = (raw: Raw) => {
  const write5m = count(at(raw, 'cache_creation', 'ephemeral_5m_input_tokens'));
  const write1h = count(at(raw, 'cache_creation', 'ephemeral_1h_input_tokens'));
  const cacheWrite = Math.max(count(raw['cache_creation_input_tokens']), write5m + write1h);
  const unfamiliar = Object.entries(raw).filter(([name]) => name.endsWith('_tokens') && !KNOWN.test(name));
  return {
    uncached: count(raw['input_tokens']),
    output: count(raw['output_tokens']),
    cacheRead: count(raw['cache_read_input_tokens']),
    cacheWrite,
    // Without a split by lifetime, all writes are five-minute writes. A stream has it in its first event, and the sum grows until its last.
    cacheWrite1h: write5m === 0 && write1h > 0 ? cacheWrite : write1h,
    thinking: count(at(raw, 'output_tokens_details', 'thinking_tokens')),
    isClear:
      (!isRaw(raw['cache_creation']) || cacheWrite === write5m + write1h) &&
      unfamiliar.every(([, tokens]) => count(tokens) === 0),
  };
};

type Message = Omit<ReturnType<typeof oneMessage>, 'isClear'>;

/** Both sides are there, and nothing that adds to them is unreadable. */
const isReadable = (raw: Raw): boolean =>
  countOf(raw['input_tokens']) !== null &&
  countOf(raw['output_tokens']) !== null &&
  !hasUnreadable(raw, ['cache_read_input_tokens', 'cache_creation_input_tokens']);

/**
 * Anthropic messages: `input_tokens` EXCLUDES cache reads and writes. With compaction the top level leaves out the compacting
 * iterations, so the iterations are summed. Where the list is incomplete, the top level is larger and used instead. Where the
 * iterations are attempts of several models, the top level is not used: it is the last attempt's, and its split of cache writes may
 * be the first's.
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction
 */
export const readAnthropicUsage = (raw: Raw): UsageDraft => {
  const top = oneMessage(raw);
  const listed = iterationsOf(raw);
  const iterations = listed.map(oneMessage);
  const isTopUsed = !areAttempts(listed);
  const sum = (field: keyof Message): number => {
    const total = iterations.reduce((so, message) => so + message[field], 0);
    return isTopUsed ? Math.max(top[field], total) : total;
  };
  const cacheRead = sum('cacheRead');
  const cacheWrite = sum('cacheWrite');
  const isKnown = listed.every(isReadable) && (isReadable(raw) || listed.length > 0);
  const isClear = (iterations.length > 0 ? iterations : [top]).every((message) => message.isClear);
  return {
    gap: isKnown ? (isClear ? undefined : 'derived') : 'missing',
    inputTokens: sum('uncached') + cacheRead + cacheWrite,
    outputTokens: sum('output'),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: sum('cacheWrite1h'),
    // Iterations do not report it.
    reasoningTokens: Math.max(top.thinking, sum('thinking')),
  };
};
