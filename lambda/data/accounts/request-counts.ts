import { hash } from 'node:crypto';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { requestCountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Counts requests in fixed windows, for rate limits. Items expire with their window. */
export const openRequestCounts = ({ call, name: table }: Table, nowMs: () => number) => ({
  /**
   * Counts one request.
   *
   * @param subject whose requests are counted. Stored as a hash: it may be an e-mail address
   * @returns the requests in the open window, this one included
   */
  count: async (name: string, subject: string, windowMinutes: number) => {
    const windowMs = windowMinutes * MINUTE_MS;
    const startMs = Math.floor(nowMs() / windowMs) * windowMs;
    const endMs = startMs + windowMs;
    const subjectHash = hash('sha256', subject, 'base64url');
    const { Attributes } = await call('UpdateItem', {
      TableName: table,
      Key: requestCountKey(`${name}#${subjectHash}`, new Date(startMs).toISOString()),
      UpdateExpression: 'ADD requests :one SET expiresAt = :end',
      ExpressionAttributeValues: { ':one': 1, ':end': endMs / 1000 },
      ReturnValues: 'UPDATED_NEW',
    });
    return {
      requests: Number(Attributes?.['requests']),
      endsInSeconds: Math.max(1, Math.ceil((endMs - nowMs()) / 1000)),
    };
  },
});
