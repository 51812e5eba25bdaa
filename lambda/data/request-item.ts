import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import { dayOf } from '../domain/spend/periods.ts';
import { type RequestRecord, requestRecordSchema } from '../domain/spend/request-record.ts';
import { parseRequestKey, requestKey } from './keys.ts';

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || value === false || (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * The item of a record. Writes are paid by the kilobyte, twice in a transaction, and most records fit one kilobyte this way: what the
 * key says is not said again; members that are null, zero or empty are left out, and the schema brings them back; what only
 * pricing and people look at is one deflated attribute, which also lets providers nest and name things as attributes may not be.
 */
export const requestItem = (record: RequestRecord): Record<string, unknown> => {
  const { accountId, requestId, costNanoUsd, reading, usage, lines, ...facts } = record;
  const sparse = Object.entries(facts)
    .filter(([name, value]) => !isEmpty(value) || (name === 'ttfbMs' && value === 0))
    // The table takes no lone surrogates, and clients may send any.
    .map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]);
  const sparseUsage = usage && Object.fromEntries(Object.entries(usage).filter(([, value]) => !isEmpty(value)));
  const details = { reading, usage: sparseUsage, lines };
  return {
    ...requestKey(accountId, dayOf(record.startedAt), requestId),
    ...Object.fromEntries(sparse),
    ...(costNanoUsd !== null && { costNanoUsd }),
    ...((reading || usage || lines.length > 0) && { details: deflateRawSync(JSON.stringify(details)) }),
  };
};

const storedItem = z.looseObject({ pk: z.string(), sk: z.string(), details: z.instanceof(Uint8Array).optional() });

/** Measured where the end of the request is known: left out, they are zero, as the bytes of a GET are, and not unknown. */
const MEASURED = { totalMs: 0, requestBytes: 0, responseBytes: 0 };

/** @throws ZodError where an item is none of ours */
export const parseRequestItem = (item: Record<string, unknown>): RequestRecord => {
  const { pk, sk, details, ...facts } = storedItem.parse(item);
  return requestRecordSchema.parse({
    ...(facts['outcome'] !== 'unknown' && MEASURED),
    ...facts,
    ...parseRequestKey({ pk, sk }),
    ...(details && (JSON.parse(inflateRawSync(details).toString('utf8')) as Record<string, unknown>)),
  });
};
