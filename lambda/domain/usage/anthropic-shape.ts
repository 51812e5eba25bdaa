import type { UsageDraft } from './consistent-usage.ts';
import { areAttempts, iterationsOf } from './iterations.ts';
import { at, count, countOf, isRaw, type Raw } from './raw.ts';
import { hasUnreadable } from './sides.ts';

const writesOf = (raw: Raw) => ({
  written: count(raw['cache_creation_input_tokens']),
  write5m: count(at(raw, 'cache_creation', 'ephemeral_5m_input_tokens')),
  write1h: count(at(raw, 'cache_creation', 'ephemeral_1h_input_tokens')),
});

const oneMessage = (raw: Raw) => {
  const { written, write5m, write1h } = writesOf(raw);
  const cacheWrite = Math.max(written, write5m + write1h);
  return {
    uncached: count(raw['input_tokens']),
    output: count(raw['output_tokens']),
    cacheRead: count(raw['cache_read_input_tokens']),
    cacheWrite,
    // Without a split by lifetime, all writes are five-minute writes.
    cacheWrite1h: write5m === 0 && write1h > 0 ? cacheWrite : write1h,
    thinking: count(at(raw, 'output_tokens_details', 'thinking_tokens')),
  };
};

type Message = ReturnType<typeof oneMessage>;

/** Both sides are there, and nothing that adds to them is unreadable. */
const isReadable = (raw: Raw): boolean =>
  countOf(raw['input_tokens']) !== null &&
  countOf(raw['output_tokens']) !== null &&
  !hasUnreadable(raw, ['cache_read_input_tokens', 'cache_creation_input_tokens']);

/** A total is compared with the sides elsewhere. */
const knownTokens = new Set([
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'total_tokens',
]);

/**
 * True where tokens are of a kind that has no price here, or were written to a cache for a time that the split does not tell: a stream
 * has the split in its first event, and counts that grow in its last.
 */
const hasUnknownKind = (raw: Raw): boolean => {
  const { written, write5m, write1h } = writesOf(raw);
  const tokens = Object.entries(raw).filter(([name]) => name.endsWith('_tokens') && !knownTokens.has(name));
  return (isRaw(raw['cache_creation']) && written > write5m + write1h) || tokens.some(([, each]) => count(each) > 0);
};

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
  const isExact = !(listed.length > 0 ? listed : [raw]).some(hasUnknownKind);
  return {
    gap: isKnown ? (isExact ? undefined : 'derived') : 'missing',
    inputTokens: sum('uncached') + cacheRead + cacheWrite,
    outputTokens: sum('output'),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: sum('cacheWrite1h'),
    // Iterations do not report it.
    reasoningTokens: Math.max(top.thinking, sum('thinking')),
  };
};
