import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { dayOf } from '../../domain/calendar/utc.ts';
import { withCurrentNames } from '../../domain/spend/former-names.ts';
import { type RequestRecord, requestRecordSchema } from '../../domain/spend/request-record.ts';
import { type Key, parseRequestKey, requestKey } from '../table/keys.ts';

/** A record as it is written. */
export interface RequestItem extends Key {
  readonly revision: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
  /** All the rest: JSON, deflated. */
  readonly details: Uint8Array;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || value === false || (typeof value === 'object' && Object.keys(value).length === 0);

/** Zero is something else than null in these. */
const TELLING_ZEROS: ReadonlySet<string> = new Set(['ttfbMs', 'costNanoUsd']);

const withoutEmpty = (members: object): Record<string, unknown> => {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    if (isEmpty(value) && !(value === 0 && TELLING_ZEROS.has(name))) continue;
    // What the table's keys cannot hold, lone surrogates, stands nowhere else either: a tag is the same in a record and in its cell.
    kept[name] = typeof value === 'string' ? value.toWellFormed() : value;
  }
  return kept;
};

/** Deflate's tables for 32 KB take longer to set up than a record of one or two takes to compress; the bytes are the same. */
const SMALL_CHARACTERS = 4_096;
const FOR_SMALL = { windowBits: 12, memLevel: 5, chunkSize: 4_096 };

const deflated = (details: object): Uint8Array => {
  const text = JSON.stringify(details);
  return deflateRawSync(text, text.length <= SMALL_CHARACTERS ? FOR_SMALL : {});
};

/**
 * The item of a record. Writes are paid by the kilobyte, twice in a transaction, and nearly all records fit one kilobyte this way: what the
 * key says is not said again; members that are null, zero or empty are left out, and the schema brings them back; all that no
 * condition and no expiry looks at is one deflated attribute. An attribute of its own costs its name in every item, and time on the
 * way to the table and in it. As JSON it may also be nested and named as attributes may not.
 */
export const requestItem = (record: RequestRecord): RequestItem => {
  const { accountId, requestId, revision, expiresAt, usage, ...facts } = record;
  return {
    ...requestKey(accountId, dayOf(record.startedAt), requestId),
    revision,
    expiresAt,
    details: deflated({ ...withoutEmpty(facts), usage: usage && withoutEmpty(usage) }),
  };
};

const storedItem = z.looseObject({ pk: z.string(), sk: z.string(), details: z.optional(z.instanceof(Uint8Array)) });

/** Measured where the end of the request is known: left out, they are zero, as the bytes of a GET are, and not unknown. */
const MEASURED = { totalMs: 0, requestBytes: 0, responseBytes: 0 };

/** Reads records of any form they were ever written in: attributes of their own count as members of `details`. @throws $ZodError where an item is none of ours */
export const parseRequestItem = (item: object): RequestRecord => {
  const { pk, sk, details, ...attributes } = storedItem.parse(item);
  const facts = withCurrentNames({
    ...attributes,
    ...(details && (JSON.parse(inflateRawSync(details).toString('utf8')) as Record<string, unknown>)),
  });
  return requestRecordSchema.parse({
    ...(facts['outcome'] !== 'unknown' && MEASURED),
    ...facts,
    ...parseRequestKey({ pk, sk }),
  });
};
