import * as z from 'zod/mini';
import { HOUR_MS } from '../calendar/units.ts';
import { hostLabel } from '../host-label.ts';
import {
  MAX_CLIENT_CHARACTERS,
  MAX_MODEL_CHARACTERS,
  MAX_SESSION_ID_CHARACTERS,
  MAX_TAG_CHARACTERS,
} from '../usage/limits.ts';
import { type Block, type Blocks, isInForce } from './block.ts';
import { chosen, chosenId } from './config-members.ts';

/** The gateway compares each request of an account with all of them, and reads them as one item. */
export const MAX_PAUSES = 50;

const MAX_MINUTES = 366 * 24 * 60;

export const pauseScope = {
  provider: z.optional(hostLabel),
  model: chosen(MAX_MODEL_CHARACTERS),
  tag: chosen(MAX_TAG_CHARACTERS),
  key: chosenId('Id of a service key.'),
  project: chosenId('Id of a project, such as `default`: its active keys at this moment.'),
  session: chosen(MAX_SESSION_ID_CHARACTERS, 'Session id of a client.'),
  client: chosen(MAX_CLIENT_CHARACTERS),
};

/** The scope of a pause, and how long it lasts. */
export const pauseSchema = z.strictObject({
  scope: z.strictObject(pauseScope).check(
    z.refine((scope) => Object.values(scope).some((value) => value !== undefined), 'must name something to pause'),
    z.refine(
      ({ key, project }) => key === undefined || project === undefined,
      'must not have both a key and a project',
    ),
  ),
  minutes: z
    ._default(z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_MINUTES))), 60)
    .check(z.describe('Null: until somebody ends it.')),
});

/** The pauses in force, oldest first. */
export const pausesOf = ({ blocks }: Blocks, now: Date): Block[] =>
  blocks.filter((block) => block.kind === 'pause' && isInForce(block, now));

const withPauses = (blocks: Blocks, pauses: readonly Block[]): Blocks => ({
  ...blocks,
  blocks: [...blocks.blocks.filter(({ kind }) => kind !== 'pause'), ...pauses],
});

export const withoutPause = (blocks: Blocks, id: string, now: Date): Blocks =>
  withPauses(
    blocks,
    pausesOf(blocks, now).filter((pause) => pause.id !== id),
  );

/** Milliseconds; Infinity until somebody ends it. */
export const endMs = ({ until }: Pick<Block, 'until'>): number =>
  until === null ? Number.POSITIVE_INFINITY : Date.parse(until);

/** The first of several values that exceed a limit within an hour stay paused. */
const LASTS_LONGER_MS = HOUR_MS;

/**
 * An account's blocks with one more pause. At the limit, it takes the place of the first to end of those that rules made, if that ends an
 * hour earlier.
 *
 * @returns the pause that ended for it, or the new one where there was no place
 */
export const withPause = (
  blocks: Blocks,
  pause: Block,
  now: Date,
): { readonly blocks: Blocks; readonly ended: Block | undefined } => {
  const pauses = pausesOf(blocks, now);
  if (pauses.length < MAX_PAUSES) return { blocks: withPauses(blocks, [...pauses, pause]), ended: undefined };
  const [first] = pauses.filter(({ ruleId }) => ruleId !== undefined).sort((a, b) => endMs(a) - endMs(b));
  if (first === undefined || !(endMs(pause) - endMs(first) >= LASTS_LONGER_MS)) return { blocks, ended: pause };
  return { blocks: withPauses(blocks, [...pauses.filter((each) => each !== first), pause]), ended: first };
};

/** The requests that a pause refuses, in words: `tag batch, key 0191…`. */
export const pausedText = ({ scope: { keyIds, sessionId, metadata, ...others }, projectId }: Block): string => {
  const ofKeys = projectId === undefined ? { key: keyIds?.join(', ') } : { project: projectId };
  return Object.entries({ ...others, ...metadata, session: sessionId, ...ofKeys })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
    .join(', ');
};
