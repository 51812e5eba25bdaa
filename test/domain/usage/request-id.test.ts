import { expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod';
import { requestIdOfResponse, timeOfRequestId } from '../../../lambda/domain/usage/request-id.ts';

it('gives responses of a connection ids with their own time, their index and the connection’s last digits', () => {
  const connectionId = uuidv7();
  const time = Date.parse('2026-11-22T12:00:00.123Z');
  const ids = [1, 2, 4_095, 4_096].map((index) => requestIdOfResponse(connectionId, index, time));
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) {
    expect(z.uuidv7().safeParse(id).success).toBe(true);
    expect(timeOfRequestId(id)).toBe(time);
    expect(id.slice(-17)).toBe(connectionId.slice(-17));
  }
  expect(ids.slice(0, 3)).toEqual(ids.slice(0, 3).sort());
});
