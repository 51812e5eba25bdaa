import * as z from 'zod/mini';
import { name } from '../../http/name.ts';
import { operation } from '../../http/operation.ts';

const key = {
  id: z.string(),
  name: z.string(),
  maskedKey: z
    .string()
    .check(z.meta({ description: 'First and last characters of the key.', examples: ['svc_4kPz…9fQ2'] })),
  status: z.enum(['active', 'revoked']),
  createdAt: z.iso.datetime(),
  revokedAt: z.nullable(z.iso.datetime()),
  lastUsedAt: z
    .nullable(z.iso.datetime())
    .check(z.describe('Updated every few minutes. Null if the key was never used.')),
};

const keySchema = z.object(key).register(z.globalRegistry, { id: 'Key' });

const group = 'Keys';

export const listKeys = operation({
  id: 'listKeys',
  method: 'GET',
  path: '/keys',
  group,
  summary: 'List service keys, including revoked ones',
  access: 'authorizer',
  permission: 'keys:read',
  success: {
    status: 200,
    description: 'Oldest first.',
    schema: z.object({
      items: z.array(keySchema),
      active: z.int().check(z.nonnegative(), z.describe('Number of active keys.')),
      limit: z.int().check(z.positive(), z.describe('Number of active keys that the plan allows.')),
    }),
  },
  errors: [],
});

export const createKey = operation({
  id: 'createKey',
  method: 'POST',
  path: '/keys',
  group,
  summary: 'Create a service key',
  description: 'Send the key as X-Service-Key with proxy requests. All keys of an account give the same access.',
  access: 'authorizer',
  permission: 'keys:write',
  body: z.strictObject({
    name: name(64),
  }),
  success: {
    status: 201,
    description: 'The new key.',
    schema: z.object({ ...key, key: z.string().check(z.describe('The key itself. Shown only once. Keep it secret.')) }),
  },
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const revokeKey = operation({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/keys/{id}',
  group,
  summary: 'Revoke a service key',
  description:
    'Permanent. The gateway caches keys and rejects traffic with a revoked key within 60 seconds. Its spend stays in every report.',
  access: 'authorizer',
  permission: 'keys:write',
  params: z.strictObject({ id: z.string().check(z.minLength(1), z.maxLength(64)) }),
  query: z.strictObject({
    force: z
      ._default(z.enum(['true', 'false']), 'false')
      .check(z.describe('Revoke it even if it is the last active key.')),
  }),
  success: { status: 204, description: 'Revoked.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});
