import * as z from 'zod/mini';
import { MAX_PAUSES, pauseSchema, pauseScope } from '../../domain/limits/pauses.ts';
import { inGroup, ok } from '../../http/operation.ts';
import { name } from '../../http/parameters.ts';

const shownScope = Object.fromEntries(
  Object.keys(pauseScope).map((member) => [member, z.optional(z.string())]),
) as Record<keyof typeof pauseScope, z.ZodMiniOptional<z.ZodMiniString>>;

const shownPause = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: z.object(shownScope).check(z.describe('Requests that match all of these are refused.')),
    startedAt: z.iso.datetime(),
    until: z.nullable(z.iso.datetime()).check(z.describe('Null until somebody ends it.')),
    ruleId: z.nullable(z.string()).check(z.describe('The rule that made it. Null if a person did.')),
  })
  .register(z.globalRegistry, { id: 'Pause' });

const operation = inGroup('Pauses');

export const listPauses = operation('listPauses', 'GET /pauses', {
  summary: 'List the pauses in force',
  permission: 'rules:read',
  success: ok('Oldest first.', { items: z.array(shownPause) }),
});

export const createPause = operation('createPause', 'POST /pauses', {
  audits: ['pause.started'],
  summary: 'Pause a session, a key, a project or a tag',
  description: `Its requests get 429 PAUSED, with \`x-should-retry: false\`, and are free. Responses under way are not interrupted. Rules of the type \`burn_rate\` make pauses, too. An account has ${MAX_PAUSES} at most.`,
  permission: 'rules:write',
  body: z.strictObject({
    name: name(100).check(z.describe('The reason. The refused client sees it.')),
    ...pauseSchema.shape,
  }),
  success: {
    status: 201,
    description: 'The pause.',
    schema: z.extend(shownPause, {
      enforcedFrom: z.iso
        .datetime()
        .check(z.describe('By then every gateway refuses: 5 seconds, a minute for the first block of an account.')),
    }),
  },
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const endPause = operation('endPause', 'DELETE /pauses/{id}', {
  audits: ['pause.ended'],
  summary: 'End a pause: requests pass again within 5 seconds',
  permission: 'rules:write',
  success: { status: 204, description: 'Ended.' },
  errors: ['CONFLICT'],
});
