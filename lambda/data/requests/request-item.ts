import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { dayOf } from '../../domain/calendar/utc.ts';
import { withCurrentNames } from '../../domain/spend/former-names.ts';
import { type RequestRecord, requestRecordSchema } from '../../domain/spend/request-record.ts';
import { type Key, parseRequestKey, requestKey } from '../table/keys.ts';
import { readItem } from '../table/read.ts';

export interface RequestItem extends Key {
  readonly revision: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
  /** `sessionMark` of its session. */
  readonly s?: string;
  /** All other members: JSON, deflated. */
  readonly details: Uint8Array;
}

/**
 * A few bits of a session's id, by which the table itself passes over the records of most other sessions. The attribute costs five bytes.
 */
export const sessionMark = (sessionId: string): string => hash('sha256', sessionId, 'base64url').slice(0, 4);

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || value === false || (typeof value === 'object' && Object.keys(value).length === 0);

/** Members in which zero differs from null. */
const KEPT_ZEROS: ReadonlySet<string> = new Set(['ttfbMs', 'costNanoUsd', 'listCostNanoUsd']);
/** A member in which null differs from absence. */
const KEPT_NULL = 'listCostNanoUsd';

const withoutEmpty = (members: object): Record<string, unknown> => {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const isKept = (value === 0 && KEPT_ZEROS.has(name)) || (value === null && name === KEPT_NULL);
    if (isEmpty(value) && !isKept) continue;
    // Keys cannot hold lone surrogates. They are replaced here too, so that a tag is the same in a record and in its spend counter.
    kept[name] = typeof value === 'string' ? value.toWellFormed() : value;
  }
  return kept;
};

const mapValues = <T, U>(members: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]));

/** For one or two kilobytes, deflate takes longer to set up tables for 32 KB than to compress. The output is the same size. */
const SMALL_CHARACTERS = 4_096;
const FOR_SMALL = { windowBits: 12, memLevel: 5, chunkSize: 4_096 };

const deflated = (details: object): Uint8Array => {
  const text = JSON.stringify(details);
  return deflateRawSync(text, text.length <= SMALL_CHARACTERS ? FOR_SMALL : {});
};

/**
 * The item of a record. DynamoDB charges writes by the kilobyte, twice in a transaction, and nearly all records fit one kilobyte in this
 * form: members of the key are not repeated; members that are null, zero or empty are left out, and the schema restores them; all that no
 * condition, no filter and no expiry reads is one deflated attribute. A separate attribute would cost its name in every item, and time in the SDK
 * and in the table. JSON may also nest, and use names that attributes may not have.
 */
export const requestItem = (record: RequestRecord): RequestItem => {
  const { accountId, requestId, shard, revision, expiresAt, usage, allocations, countedFor, ...facts } = record;
  return {
    ...requestKey(accountId, dayOf(record.startedAt), requestId, shard),
    revision,
    expiresAt,
    ...(record.session && { s: sessionMark(record.session.id) }),
    details: deflated({
      ...withoutEmpty(facts),
      usage: usage && withoutEmpty(usage),
      ...(Object.keys(allocations).length > 0 && { allocations: mapValues(allocations, withoutEmpty) }),
      ...(countedFor.length > 0 && { countedFor: countedFor.map(withoutEmpty) }),
    }),
  };
};

const storedItem = z.looseObject({
  pk: z.string(),
  sk: z.string(),
  s: z.optional(z.string()),
  details: z.optional(z.instanceof(Uint8Array)),
});

/** These are measured once the end of a request is known. A missing one is then zero, such as the request bytes of a GET, and not unknown. */
const MEASURED = { totalMs: 0, requestBytes: 0, responseBytes: 0 };

/**
 * Reads a record in any form that was ever written: separate attributes count as members of `details`.
 *
 * @throws UnreadableItemError where the item is not a record
 */
export const parseRequestItem = (item: object): RequestRecord => readItem(() => parse(item));

const parse = (item: object): RequestRecord => {
  const { pk, sk, s: _mark, details, ...attributes } = storedItem.parse(item);
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
