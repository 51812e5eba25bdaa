import * as z from 'zod/mini';
import { DEFAULT_PROJECT_ID } from '../../domain/accounts/project.ts';
import { MAX_PAUSES } from '../../domain/limits/pauses.ts';
import { providerLabels } from '../../domain/providers.ts';
import {
  MAX_CLIENT_CHARACTERS,
  MAX_MODEL_CHARACTERS,
  MAX_SESSION_ID_CHARACTERS,
  MAX_TAG_CHARACTERS,
} from '../../domain/usage/limits.ts';
import { idParams } from '../../http/id-params.ts';
import { name } from '../../http/name.ts';
import { operation } from '../../http/operation.ts';

const MAX_MINUTES = 366 * 24 * 60;

const upTo = (characters: number) => z.optional(z.string().check(z.minLength(1), z.maxLength(characters)));

const scopeMembers = {
  provider: z.optional(z.enum(providerLabels)),
  model: upTo(MAX_MODEL_CHARACTERS),
  tag: upTo(MAX_TAG_CHARACTERS),
  key: z.optional(z.string().check(z.minLength(1), z.maxLength(64), z.describe('Id of a service key.'))),
  project: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.maxLength(64),
        z.meta({ description: 'Id of a project: its active keys at this moment.', examples: [DEFAULT_PROJECT_ID] }),
      ),
  ),
  session: z.optional(
    z.string().check(z.minLength(1), z.maxLength(MAX_SESSION_ID_CHARACTERS), z.describe('Session id of a client.')),
  ),
  client: upTo(MAX_CLIENT_CHARACTERS),
};

const shownScope = Object.fromEntries(
  Object.keys(scopeMembers).map((member) => [member, z.optional(z.string())]),
) as Record<keyof typeof scopeMembers, z.ZodMiniOptional<z.ZodMiniString>>;

const pauseSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: z.object(shownScope).check(z.describe('Requests that match all of these are refused.')),
    startedAt: z.iso.datetime(),
    until: z.nullable(z.iso.datetime()).check(z.describe('Null until somebody ends it.')),
    ruleId: z.nullable(z.string()).check(z.describe('The rule that made it. Null if a person did.')),
  })
  .register(z.globalRegistry, { id: 'Pause' });

const group = 'Pauses';

export const listPauses = operation({
  id: 'listPauses',
  method: 'GET',
  path: '/pauses',
  group,
  summary: 'List the pauses in force',
  permission: 'rules:read',
  success: { status: 200, description: 'Oldest first.', schema: z.object({ items: z.array(pauseSchema) }) },
});

export const createPause = operation({
  id: 'createPause',
  method: 'POST',
  path: '/pauses',
  group,
  summary: 'Pause a session, a key, a project or a tag',
  description: `Its requests get 429 PAUSED, with \`x-should-retry: false\`, and are free. Responses under way are not interrupted. Rules of the type \`burn_rate\` make pauses, too. An account has ${MAX_PAUSES} at most.`,
  permission: 'rules:write',
  body: z.strictObject({
    name: name(100).check(z.describe('The reason. The refused client sees it.')),
    scope: z.strictObject(scopeMembers).check(
      z.refine((scope) => Object.values(scope).some((value) => value !== undefined), 'must name something to pause'),
      z.refine(
        ({ key, project }) => key === undefined || project === undefined,
        'must not have both a key and a project',
      ),
    ),
    minutes: z
      ._default(z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_MINUTES))), 60)
      .check(z.describe('Null: until somebody ends it.')),
  }),
  success: {
    status: 201,
    description: 'The pause.',
    schema: z.extend(pauseSchema, {
      enforcedFrom: z.iso
        .datetime()
        .check(z.describe('By then every gateway refuses: 5 seconds, a minute for the first block of an account.')),
    }),
  },
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const endPause = operation({
  id: 'endPause',
  method: 'DELETE',
  path: '/pauses/{id}',
  group,
  summary: 'End a pause: requests pass again within 5 seconds',
  permission: 'rules:write',
  params: idParams,
  success: { status: 204, description: 'Ended.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});
