import * as z from 'zod/mini';
import { destinationSchema, destinationTypes } from '../../domain/exports/destination.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, name, unreadable } from '../../http/parameters.ts';

const url = described(z.url('must be a URL').check(z.maxLength(2_048)), 'For `otlp` without `/v1/logs`.');
/** Those that the request itself needs are not for users to set. */
const headerName = z
  .string()
  .check(
    z.regex(
      /^(?!host$|content-|x-service-|connection$|transfer-)[a-z0-9-]{1,64}$/,
      'must be a header in lower case that you may set',
    ),
  );
const headers = described(
  z
    .record(headerName, z.string().check(z.regex(/^[\x21-\x7e][\x20-\x7e]{0,2047}$/, 'must be printable ASCII')))
    .check(z.refine((given) => Object.keys(given).length <= 10, 'must have at most 10 headers')),
  'Such as `authorization`. Shown by name only.',
).register(z.globalRegistry, { id: 'DestinationHeaders' });

const { cursor, sentAt, failures, problem, createdAt, isActive } = destinationSchema.shape;
const secret = described(z.string(), 'Signs what is sent: `X-Service-Signature`. Shown only once.');
const destinationView = component('Destination', {
  id: z.string(),
  name: z.string(),
  type: z.enum(destinationTypes),
  url: z.string(),
  headers: described(z.array(z.string()), 'Names.'),
  isActive,
  createdAt,
  sentUntil: described(cursor, 'Exports up to this one, or requests that began before, were sent.'),
  sentAt,
  failures: described(failures, 'After ten it is off; switched on, it goes on where it was.'),
  problem: described(problem, 'Why it did not take the last one.'),
});

const operation = inGroup('Destinations');

export const listDestinations = operation('listDestinations', 'GET /destinations', {
  summary: 'List destinations, and how far each is',
  permission: 'reports:read',
  success: ok('Oldest first.', { items: z.array(destinationView), unreadable }),
});

export const createDestination = operation('createDestination', 'POST /destinations', {
  audits: ['destination.created'],
  summary: 'Have an address follow spend',
  description:
    '`manifests` posts the manifest of each exported day, again when the day changes. `otlp` sends requests by OTLP/HTTP in JSON, twenty minutes after they began. What is not taken is tried again, in order, after 2, 4, 8 … minutes.',
  permission: 'reports:write',
  body: z.strictObject({ name: name(64), type: z.enum(destinationTypes), url, headers: z._default(headers, {}) }),
  success: created('The new destination.', { id: z.string(), secret }),
  errors: ['LIMIT_REACHED'],
});

export const updateDestination = operation('updateDestination', 'PATCH /destinations/{id}', {
  audits: ['destination.changed'],
  summary: 'Change a destination, or switch it on or off',
  description:
    'Send only the members to change. Headers are replaced as a whole. For another host they are needed again, and there is a new secret.',
  permission: 'reports:write',
  body: z.strictObject({
    name: z.optional(name(64)),
    url: z.optional(url),
    headers: z.optional(headers),
    isActive: z.optional(z.boolean()),
  }),
  success: ok(
    'The destination, with its new secret if it has one.',
    z.extend(destinationView, { secret: z.optional(secret) }),
  ),
});

export const deleteDestination = operation('deleteDestination', 'DELETE /destinations/{id}', {
  audits: ['destination.deleted'],
  summary: 'Delete a destination',
  permission: 'reports:write',
  success: { status: 204, description: 'Deleted.' },
});
