import { uuidv7obj } from 'uuidv7';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';

export const models = ['gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'o3-mini-2025-01-31'];

/** A UUIDv7 of a given time, as the gateway would have made it then. */
export const requestIdAt = (ms: number): string => {
  const bytes = Uint8Array.from(uuidv7obj().bytes);
  new DataView(bytes.buffer).setUint16(0, Math.floor(ms / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, ms % 2 ** 32);
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
};

/** From 0.4 s to a minute: the counters of a busy account have most of the buckets in between. */
const durationMs = (n: number): number => Math.round(400 * 1.05 ** ((n * 37) % 103));

/** The nth of an account's chat completions, which take turns in model and tag; one service key, one provider key. */
export const chatCompletion = (
  accountId: string,
  tags: readonly (string | null)[],
  n: number,
  ms: number,
): CloseEvent => ({
  kind: 'close',
  version: 1,
  requestId: requestIdAt(ms),
  accountId,
  keyId: '01939b3e-8f6a-7c11-a6b1-0d7c5a1f2e3d',
  provider: 'openai',
  providerKey: 'c0ffee00c0ffee00c0ffee00',
  tag: tags[Math.floor(n / models.length) % tags.length] ?? null,
  tagTruncated: false,
  method: 'POST',
  path: '/v1/chat/completions',
  startedAt: new Date(ms).toISOString(),
  route: 'governed',
  outcome: 'completed',
  status: 200,
  ttfbMs: 412.7,
  totalMs: durationMs(n),
  overheadMs: 0.4,
  requestBytes: 2_114,
  responseBytes: 3_871,
  reading: {
    dialect: 'openai-chat',
    usage: {
      prompt_tokens: 812 + (n % 100),
      completion_tokens: 240 + (n % 50),
      total_tokens: 1_052 + (n % 100) + (n % 50),
      prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    usageSource: 'reported',
    complete: true,
    modelRequested: 'gpt-4o',
    modelServed: models[n % models.length] ?? null,
    streamed: false,
    serviceTier: 'default',
    billableItems: {},
  },
});
