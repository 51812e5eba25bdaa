import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { count, described, timeRange } from '../../http/parameters.ts';
import { requestSummary } from '../requests/summary.ts';
import { sums } from '../spend/sums.ts';

const hour = z.string().check(z.meta({ examples: ['2026-11-20T16'] }));

const { displayCurrency } = requestSummary.shape;

const activity = {
  firstHour: described(hour, 'The hour in which its first request of the range began, UTC.'),
  lastHour: described(hour, 'The hour in which its last request of the range began, UTC.'),
  clients: described(z.array(z.string()), 'The programs that sent its requests, as far as recognized.'),
  ...sums,
  displayCurrency,
};

const operation = inGroup('Sessions');
const range = { from: z.iso.datetime(), to: described(z.iso.datetime(), 'Exclusive.') };

export const listSessions = operation('listSessions', 'GET /sessions', {
  summary: 'List sessions with their sums',
  description:
    'A session is what a client calls one: the requests that it sends with the same session id. Sums are exact, and count the requests of the range. Bounds are at whole days (UTC): others are refused. Sessions are kept as long as the records of their requests.',
  permission: 'requests:read',
  query: z.strictObject({
    ...timeRange,
    orderBy: described(
      z._default(z.enum(['cost', 'time']), 'cost'),
      '`cost`: the highest known cost first. `time`: the session that was active last first.',
    ),
    limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(200)), 50),
  }),
  success: ok('The first sessions in this order.', {
    ...range,
    isComplete: described(
      z.boolean(),
      'False if the range has too many sessions to be read at once. `from` is then the first day that was read; ask for earlier days with another range.',
    ),
    sessions: described(count, 'How many sessions the range has.'),
    totals: described(z.object({ ...sums, displayCurrency }), 'The sums of all these sessions.'),
    items: z.array(
      z.object({
        id: z.string(),
        agents: described(count, 'How many agents sent requests, the main agent included.'),
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
        agentId: described(z.nullable(z.string()), 'Null for the main agent.'),
        parentAgentId: described(
          z.nullable(z.string()),
          'Null if the main agent started it, and for the main agent itself.',
        ),
        ...activity,
        items: described(z.array(requestSummary), 'Its requests, newest first.'),
      }),
    ),
    isComplete: described(z.boolean(), 'False if some requests of the session are not listed.'),
  }),
  errors: ['NOT_FOUND'],
});
