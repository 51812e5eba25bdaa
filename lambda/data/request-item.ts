import { dayOf } from '../domain/spend/periods.ts';
import { type RequestRecord, requestRecordSchema } from '../domain/spend/request-record.ts';
import { requestKey } from './keys.ts';

/** Members kept as JSON text: what providers send may be nested or named in ways that attributes may not be. */
const jsonMembers = ['reading', 'usage', 'lines'] as const;

const isEmpty = (value: unknown): boolean =>
  value === null || value === 0 || value === false || (typeof value === 'object' && Object.keys(value).length === 0);

/** Members that are null, zero or empty are left out: writes are paid by the kilobyte, and the schema brings them back. */
export const requestItem = (record: RequestRecord): Record<string, unknown> => {
  const { reading, usage, lines, costNanoUsd, ...facts } = record;
  const sparse = Object.fromEntries(
    Object.entries(facts)
      .filter(([, value]) => !isEmpty(value))
      // The table takes no lone surrogates, and clients may send any.
      .map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  );
  return {
    ...requestKey(record.accountId, dayOf(record.startedAt), record.requestId),
    ...sparse,
    ...(costNanoUsd !== null && { costNanoUsd }),
    ...(reading && { reading: JSON.stringify(reading) }),
    ...(usage && { usage: JSON.stringify(usage, (_, value) => (isEmpty(value) ? undefined : value)) }),
    ...(lines.length > 0 && { lines: JSON.stringify(lines) }),
  };
};

/** @throws ZodError where an item is none of ours */
export const parseRequestItem = (item: Record<string, unknown>): RequestRecord => {
  const members: Record<string, unknown> = { ...item };
  for (const name of jsonMembers)
    if (typeof members[name] === 'string') members[name] = JSON.parse(members[name] as string);
  return requestRecordSchema.parse(members);
};
