import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import type { PricedUsage, Usage } from '../../lambda/domain/usage/usage.ts';
import type { CloseEvent, OpenEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { AccountCloseEvent } from '../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose } from '../../lambda/usage-recorder/build-record.ts';

/** A UUIDv7 of a time, unique by a number. */
export const requestIdAt = (startedAt: string, n: number): string => {
  const time = Date.parse(startedAt).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
};

type Facts = Partial<Omit<OpenEvent, 'kind'>> & { n?: number };

export const openEvent = ({ n = 0, ...facts }: Facts = {}): OpenEvent => {
  const startedAt = facts.startedAt ?? '2026-11-20T12:00:00.000Z';
  return {
    kind: 'open',
    version: 1,
    requestId: requestIdAt(startedAt, n),
    accountId: 'svc_one',
    keyId: 'key-1',
    provider: 'openai',
    providerKey: 'fingerprint',
    tag: null,
    tagTruncated: false,
    method: 'POST',
    path: '/v1/chat/completions',
    startedAt,
    ...facts,
  };
};

type CloseFacts = Facts &
  Partial<Omit<CloseEvent, 'kind' | 'reading'>> & { reading?: Partial<CloseEvent['reading']>; tokens?: number };

/** A close event with a usage of this many tokens: see `priceOfTokens`. */
export const closeEvent = ({ reading, tokens = 100, ...facts }: CloseFacts = {}): CloseEvent => ({
  ...openEvent(facts),
  kind: 'close',
  route: 'governed',
  outcome: 'completed',
  status: 200,
  ttfbMs: 10.5,
  totalMs: 20.25,
  requestBytes: 300,
  responseBytes: 400,
  ...Object.fromEntries(Object.entries(facts).filter(([name]) => name !== 'n')),
  reading: {
    dialect: 'openai-chat',
    usage: { tokens },
    usageSource: 'reported',
    complete: true,
    modelRequested: 'gpt-4o',
    modelServed: 'gpt-4o-2024-08-06',
    streamed: false,
    serviceTier: null,
    billableItems: {},
    ...reading,
  },
});

const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  cacheWrite12hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  inputImageTokens: 0,
  outputImageTokens: 0,
  inputVideoTokens: 0,
  outputVideoTokens: 0,
  cacheReadAudioTokens: 0,
  cacheReadImageTokens: 0,
  billedInputTokens: null,
  billedOutputTokens: null,
  units: {},
  providerCostNanoUsd: null,
};

/** A price book with one line: a token costs 7 nano-USD. Without tokens there is no price. */
export const priceOfTokens = ({ reading }: Pick<AccountCloseEvent, 'reading'>): PricedUsage => {
  const tokens = reading.usage?.['tokens'];
  if (typeof tokens !== 'number') {
    return {
      usage: null,
      costNanoUsd: null,
      provenance: 'unknown',
      priceSource: null,
      priceVersion: null,
      lines: [],
      reason: 'No usage.',
    };
  }
  return {
    usage: { ...noUsage, inputTokens: tokens, units: { audioSeconds: tokens / 8 } },
    costNanoUsd: 7 * tokens,
    provenance: 'computed',
    priceSource: 'test',
    priceVersion: 'test',
    lines: [{ kind: 'input', quantity: tokens, rateNanoUsdPerUnit: 7 }],
    reason: null,
  };
};

/** What the recorder makes of a close event, at the price of its tokens. */
export const recordOf = (facts: CloseFacts | CloseEvent = {}, more: { expiresAt?: number } = {}): RequestRecord => {
  const event = ('kind' in facts ? facts : closeEvent(facts)) as AccountCloseEvent;
  const context = { revision: 1, overflowLevel: 0, recordedAt: event.startedAt, expiresAt: 1_800_000_000, ...more };
  return recordOfClose(event, priceOfTokens(event), null, context);
};
