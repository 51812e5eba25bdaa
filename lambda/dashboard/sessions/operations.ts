import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { timeRange } from '../../http/parameters.ts';
import { requestSummary } from '../requests/summary.ts';
import { count, sums } from '../spend/sums.ts';

const hour = z.string().check(z.meta({ examples: ['2026-11-20T16'] }));

const { displayCurrency } = requestSummary.shape;

const activity = {
  firstHour: hour.check(z.describe('The hour in which its first request of the range began, UTC.')),
  lastHour: hour.check(z.describe('The hour in which its last request of the range began, UTC.')),
  clients: z.array(z.string()).check(z.describe('The programs that sent its requests, as far as recognized.')),
  ...sums,
  displayCurrency,
};

const operation = inGroup('Sessions');
const range = { from: z.iso.datetime(), to: z.iso.datetime().check(z.describe('Exclusive.')) };

export const listSessions = operation('listSessions', 'GET /sessions', {
  summary: 'List sessions with their sums',
  description:
    'A session is what a client calls one: the requests that it sends with the same session id. Sums are exact, and count the requests of the range. Bounds are at whole days (UTC): others are refused. Sessions are kept as long as the records of their requests.',
  permission: 'requests:read',
  query: z.strictObject({
    ...timeRange,
    orderBy: z
      ._default(z.enum(['cost', 'time']), 'cost')
      .check(z.describe('`cost`: the highest known cost first. `time`: the session that was active last first.')),
    limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(200)), 50),
  }),
  success: ok('The first sessions in this order.', {
    ...range,
    isComplete: z
      .boolean()
      .check(
        z.describe(
          'False if the range has too many sessions to be read at once. `from` is then the first day that was read; ask for earlier days with another range.',
        ),
      ),
    sessions: count.check(z.describe('How many sessions the range has.')),
    totals: z.object({ ...sums, displayCurrency }).check(z.describe('The sums of all these sessions.')),
    items: z.array(
      z.object({
        id: z.string(),
        agents: count.check(z.describe('How many agents sent requests, the main agent included.')),
        ...activity,
      }),
    ),
  }),
});

export const readSession = operation('readSession', 'GET /sessions/{sessionId}', {
  summary: 'Read one session: its agents and their requests',
  description:
    'The tree of a session. `parentAgentId` says which agent started another. Sums are exact. The newest 500 requests are listed; GET /requests with `session` and `agent` lists all.',
  permission: 'requests:read',
  params: z.strictObject({ sessionId: z.string().check(z.minLength(1), z.maxLength(64)) }),
  query: z.strictObject(timeRange),
  success: ok('The session.', {
    id: z.string(),
    ...range,
    ...activity,
    agents: z.array(
      z.object({
        agentId: z.nullable(z.string()).check(z.describe('Null for the main agent.')),
        parentAgentId: z
          .nullable(z.string())
          .check(z.describe('Null if the main agent started it, and for the main agent itself.')),
        ...activity,
        items: z.array(requestSummary).check(z.describe('Its requests, newest first.')),
      }),
    ),
    isComplete: z.boolean().check(z.describe('False if some requests of the session are not listed.')),
  }),
  errors: ['NOT_FOUND'],
});
