import { createHash } from 'node:crypto';
import { isRaw } from '../../domain/usage/raw.ts';
import { IS_NEW, put, type Write } from './actions.ts';
import type { Key } from './keys.ts';
import { findItem } from './read.ts';
import type { Table } from './table.ts';

/*
 * A chain of items: each has the hash of the one before it, and the head item has that of the last. Whoever removes or changes an item
 * later breaks the chain, unless they write every later item and the head again.
 */

/** An item as it is in the table. */
export type Link = Readonly<Record<string, unknown>>;

/** The action of a transaction that adds an item to a chain. One transaction adds to one chain at most. */
export interface ChainedPut {
  readonly ChainedPut: {
    readonly head: Key;
    readonly item: Link & { readonly expiresAt: number };
    /** Throws where nothing must be written. No other link comes between what it reads and the transaction. */
    readonly requires?: (() => Promise<unknown>) | undefined;
  };
}

/** A table returns the members of an item in any order. */
const canonical = (value: unknown): unknown =>
  isRaw(value)
    ? Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, canonical(member)])
    : value;

const hashOf = (link: Link): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(link)))
    .digest('base64url');

/** A link, and the head, names the link before it. */
export interface Before {
  readonly hash: string;
  /** Epoch seconds: from then on the table may have removed it. */
  readonly until: number;
}

/** Reads which link the head calls the last. Undefined where the chain has none. */
export const findLast = async (table: Table, head: Key): Promise<Before | undefined> =>
  (await findItem(table, head))?.['last'] as Before | undefined;

/**
 * The writes of links behind what is in the chain now, with the head's last. The head's condition fails where another link came first.
 *
 * @returns no writes where there are no links
 */
export const linkWrites = async (table: Table, links: readonly ChainedPut[]): Promise<readonly Write[]> => {
  const [first] = links;
  if (!first) return [];
  const { head } = first.ChainedPut;
  const before = await findLast(table, head);
  for (const { ChainedPut } of links) await ChainedPut.requires?.();
  let last: Before | null = before ?? null;
  const puts = links.map(({ ChainedPut: { item } }) => {
    const link = { ...item, previous: last };
    last = { hash: hashOf(link), until: item.expiresAt };
    return put(link);
  });
  const condition = before === undefined ? IS_NEW : '#last.#hash = :hash';
  return [...puts, put({ ...head, last }, condition, { hash: before?.hash })];
};

export interface ChainCheck {
  /** Hashes of the links that are as they were written. */
  readonly intact: ReadonlySet<string>;
  /** Links that the head does not lead to: changed, added by hand, or before what is missing. */
  readonly astray: readonly Link[];
  /** Something before this link, or before the head, was changed or removed. Null where the chain is whole. */
  readonly brokenBefore: Link | 'head' | null;
}

/**
 * Follows a chain from its head to the first link, or to a link that the table has removed by its age.
 *
 * @param last what the head says
 * @param now epoch seconds
 */
export const checkChain = (links: readonly Link[], last: Before | undefined, now: number): ChainCheck => {
  const byHash = new Map(links.map((link) => [hashOf(link), link]));
  const intact = new Set<string>();
  let before = last ?? null;
  let behind: Link | 'head' = 'head';
  for (;;) {
    const link = before === null ? undefined : byHash.get(before.hash);
    if (!before || !link) break;
    byHash.delete(before.hash);
    intact.add(before.hash);
    behind = link;
    before = link['previous'] as Before | null;
  }
  const isWhole = before === null || before.until <= now;
  return { intact, astray: [...byHash.values()], brokenBefore: isWhole ? null : behind };
};
