import type { RequestRecord } from '../domain/spend/request-record.ts';
import { MAX_RAW_USAGE_BYTES } from '../domain/usage/limits.ts';
import { type PricedUsage, provenances } from '../domain/usage/usage.ts';
import type { AccountCloseEvent, AccountOpenEvent } from './events.ts';

/** What the ledger adds to an event to make a record of it. */
export interface RecordContext {
  readonly revision: number;
  readonly overflowLevel: number;
  readonly recordedAt: string;
  readonly expiresAt: number;
}

/**
 * The most that one request may add to a counter: 90,000 USD in nano-USD. A hundred of these, all that one transaction can add to
 * a cell, still are a safe integer. Whoever reports more lies, or is a bug: either way the cost is not known.
 */
const MAX_COUNT = 9e13;
const UNITS_SCALE = 1_000;

const implausible: PricedUsage = {
  usage: null,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  lines: [],
  reason: 'The numbers reported for this request cannot be true.',
};

/** A price whose numbers the counters can hold. */
export const plausible = (priced: PricedUsage): PricedUsage => {
  const { units = {}, ...tokens } = priced.usage ?? {};
  const isPlausible =
    provenances.includes(priced.provenance) &&
    Object.values(tokens).every(
      (value) => value === null || (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT),
    ) &&
    Object.values(units).every((value) => value >= 0 && value * UNITS_SCALE <= MAX_COUNT) &&
    (priced.costNanoUsd === null ||
      (Number.isInteger(priced.costNanoUsd) && priced.costNanoUsd >= 0 && priced.costNanoUsd <= MAX_COUNT));
  return isPlausible ? priced : implausible;
};

/**
 * A reading within what an item may hold (400 KB, and 4 MB for the 100 of a transaction). The gateway keeps to its limits, so
 * only a foreign or broken event is ever cut.
 */
const bounded = (reading: AccountCloseEvent['reading']) => {
  const { usage, billableItems } = reading;
  const fits = Buffer.byteLength(JSON.stringify({ usage, billableItems })) <= 2 * MAX_RAW_USAGE_BYTES;
  return fits
    ? { reading, readingTruncated: false }
    : { reading: { ...reading, usage: null, billableItems: {} }, readingTruncated: true };
};

const facts = (event: AccountOpenEvent | AccountCloseEvent) => ({
  requestId: event.requestId,
  accountId: event.accountId,
  keyId: event.keyId,
  provider: event.provider,
  providerKey: event.providerKey,
  tag: event.tag,
  tagTruncated: event.tagTruncated,
  method: event.method,
  path: event.path,
  startedAt: event.startedAt,
});

/** A request of which only the beginning is known: counted, and not priced. */
export const recordOfOpen = (event: AccountOpenEvent, context: RecordContext): RequestRecord => ({
  ...facts(event),
  ...context,
  outcome: 'unknown',
  route: null,
  status: null,
  ttfbMs: null,
  totalMs: null,
  requestBytes: null,
  responseBytes: null,
  reading: null,
  readingTruncated: false,
  usage: null,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  lines: [],
  reason: 'The gateway lost sight of this request before its end.',
  repeatOf: null,
});

/** @param repeatOf the request this answer was already counted with, null where this is the first to show it */
export const recordOfClose = (
  event: AccountCloseEvent,
  priced: PricedUsage,
  repeatOf: string | null,
  context: RecordContext,
): RequestRecord => ({
  ...facts(event),
  ...context,
  outcome: event.outcome,
  route: event.route,
  status: event.status,
  ttfbMs: event.ttfbMs,
  totalMs: event.totalMs,
  requestBytes: event.requestBytes,
  responseBytes: event.responseBytes,
  ...bounded(event.reading),
  repeatOf,
  ...(repeatOf === null
    ? { ...priced, lines: [...priced.lines] }
    : {
        usage: priced.usage,
        costNanoUsd: 0,
        provenance: 'free',
        priceSource: null,
        lines: [],
        reason: 'This answer was already counted with the request that first showed it.',
      }),
});
