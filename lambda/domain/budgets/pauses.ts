import type { Block, Blocks } from './block.ts';

/** The gateway compares each request of an account with all of them, and reads them as one item. */
export const MAX_PAUSES = 50;

export const isInForce = ({ until }: Pick<Block, 'until'>, now: Date): boolean =>
  until === null || Date.parse(until) > now.getTime();

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

/** Strictest first: those that last longest, and among them the newest. */
const byStrictness = (left: Block, right: Block): number => {
  const [a, b] = [left, right].map(({ until }) => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until)));
  return a === b ? ((left.startedAt ?? '') < (right.startedAt ?? '') ? 1 : -1) : (b as number) - (a as number);
};

/**
 * An account's blocks with one more pause, which takes the place of one with its id. Past the limit the strictest stay.
 *
 * @returns the pause that ended for it, which may be the new one
 */
export const withPause = (
  blocks: Blocks,
  pause: Block,
  now: Date,
): { readonly blocks: Blocks; readonly ended: Block | undefined } => {
  const pauses = [...pausesOf(blocks, now).filter(({ id }) => id !== pause.id), pause];
  const ended = pauses.toSorted(byStrictness)[MAX_PAUSES];
  return {
    blocks: withPauses(
      blocks,
      pauses.filter((each) => each !== ended),
    ),
    ended,
  };
};
