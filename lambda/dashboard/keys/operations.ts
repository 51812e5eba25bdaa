import * as z from 'zod/mini';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { count, described, instant, name } from '../../http/parameters.ts';

/** Seven days. */
const MAX_OVERLAP_HOURS = 168;

const key = {
  id: z.string(),
  name: z.string(),
  maskedKey: z
    .string()
    .check(z.meta({ description: 'First and last characters of the key.', examples: ['svc_4kPz…9fQ2'] })),
  status: z.enum(['active', 'expired', 'revoked']),
  project: described(z.string(), 'Id of its project.'),
  ownerUserId: described(
    z.nullable(z.string()),
    'The member whose key it is: its spend is that member’s. Null for keys of version 0.1.',
  ),
  createdAt: z.iso.datetime(),
  validUntil: described(z.nullable(z.iso.datetime()), 'The gateway rejects it from then on. Null: no end.'),
  formerSecrets: described(
    z.array(z.object({ maskedKey: z.string(), validUntil: z.iso.datetime() })),
    'Secrets that a rotation replaced and the gateway still accepts.',
  ),
  revokedAt: z.nullable(z.iso.datetime()),
  lastUsedAt: described(z.nullable(z.iso.datetime()), 'Updated every few minutes. Null if the key was never used.'),
};

const keySchema = component('Key', key);

const operation = inGroup('Keys');
const project = z.string().check(z.minLength(1), z.maxLength(64));
const end = described(instant, 'An instant in the future. The gateway rejects the key from then on.');
const newKeySchema = component('KeyWithSecret', {
  ...key,
  key: described(z.string(), 'The key itself. Shown only once. Keep it secret.'),
});

export const listKeys = operation('listKeys', 'GET /keys', {
  summary: 'List service keys, including revoked ones',
  permission: 'keys:read',
  success: ok('Oldest first. Of revoked ones the newest 5,000.', {
    items: z.array(keySchema),
    active: described(count, 'Number of active keys: of the account; own ones for a developer.'),
    limit: described(
      z.int().check(z.positive()),
      'Number of active keys that the plan allows, or that a developer may have.',
    ),
  }),
});

export const createKey = operation('createKey', 'POST /keys', {
  audits: ['key.created'],
  summary: 'Create a service key',
  description:
    'Send the key as X-Service-Key with proxy requests. All keys of an account give the same access. Roles without `keys:write-all` change their own keys only.',
  permission: 'keys:write',
  body: z.strictObject({
    name: name(64),
    project: described(z.optional(project), 'Id of its project. Default: the default project.'),
    member: described(
      z.optional(z.nullable(z.string().check(z.minLength(1), z.maxLength(64)))),
      'User id of the member whose key it is for good: spend is shown under that member. Null: of nobody. Default: you. Others need `keys:write-all`.',
    ),
    validUntil: z._default(z.nullable(end), null),
  }),
  success: created('The new key.', newKeySchema),
  errors: ['LIMIT_REACHED', 'CONFLICT', 'NOT_FOUND'],
});

export const changeKey = operation('changeKey', 'PATCH /keys/{id}', {
  audits: ['key.changed'],
  summary: 'Rename a service key, move it to another project, or change its end',
  description:
    'Send only the members to change. Its spend, past and future, is shown under the project that it belongs to. The gateway follows a changed end within 60 seconds.',
  permission: 'keys:write',
  body: z.strictObject({
    name: z.optional(name(64)),
    project: z.optional(project),
    validUntil: z.optional(z.nullable(end)),
  }),
  success: ok('The key.', keySchema),
  errors: ['CONFLICT'],
});

export const rotateKey = operation('rotateKey', 'POST /keys/{id}/rotate', {
  audits: ['key.rotated'],
  summary: 'Give a service key a new secret',
  description:
    'The key keeps its id, name, project and spend. The gateway accepts former secrets until the overlap ends. Without an overlap it rejects them within 60 seconds.',
  permission: 'keys:write',
  body: z.strictObject({
    overlapHours: described(
      z._default(z.number().check(z.minimum(0), z.maximum(MAX_OVERLAP_HOURS)), 24),
      'How long the former secrets still work: up to 7 days.',
    ),
  }),
  success: ok('The key with its new secret.', newKeySchema),
  errors: ['CONFLICT'],
});

export const revokeKey = operation('revokeKey', 'DELETE /keys/{id}', {
  audits: ['key.revoked'],
  summary: 'Revoke a service key',
  description:
    'Permanent. The gateway caches keys and rejects traffic with a revoked key within 60 seconds. Its spend stays in every report.',
  permission: 'keys:write',
  query: z.strictObject({
    force: described(z._default(z.enum(['true', 'false']), 'false'), 'Revoke it even if it is the last active key.'),
  }),
  success: { status: 204, description: 'Revoked.' },
  errors: ['CONFLICT'],
});

const projectOperation = inGroup('Projects');
const projectFacts = {
  id: z.string(),
  name: z.string(),
  isDefault: described(z.boolean(), 'Keys belong to it that name no other project. It cannot be deleted.'),
  createdAt: described(z.nullable(z.iso.datetime()), 'Null for the default project.'),
};

export const listProjects = projectOperation('listProjects', 'GET /projects', {
  summary: 'List projects and the keys in them',
  permission: 'keys:read',
  success: ok('The default project first, then oldest first.', {
    items: z.array(
      z.object({
        ...projectFacts,
        keys: described(z.array(z.string()), 'Ids of its keys, also of the newest 1,000 revoked ones.'),
      }),
    ),
  }),
});

export const createProject = projectOperation('createProject', 'POST /projects', {
  audits: ['project.created'],
  summary: 'Create a project',
  description: 'A key belongs to exactly one project. `GET /spend?groupBy=project` splits spend by it.',
  permission: 'projects:write',
  body: z.strictObject({ name: name(64) }),
  success: created('The project.', projectFacts),
  errors: ['LIMIT_REACHED'],
});

export const renameProject = projectOperation('renameProject', 'PATCH /projects/{id}', {
  audits: ['project.renamed'],
  summary: 'Rename a project',
  permission: 'projects:write',
  body: z.strictObject({ name: name(64) }),
  success: { status: 204, description: 'Renamed.' },
});

export const deleteProject = projectOperation('deleteProject', 'DELETE /projects/{id}', {
  audits: ['project.deleted'],
  summary: 'Delete a project without keys',
  description:
    'Move its keys first, also revoked ones: their past spend is shown under their project. It is refused while a member, invitation, API token, active rule or single sign-on is limited to the project.',
  permission: 'projects:write',
  success: { status: 204, description: 'Deleted.' },
  errors: ['CONFLICT'],
});
