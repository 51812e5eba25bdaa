import { existsSync, readFileSync } from 'node:fs';
import { HTTPException } from 'hono/http-exception';
import { writeFileAtomically } from '../emulators/atomic-file.ts';
import { SetupError } from '../setup-error.ts';
import type { Checkout, Customer, Portal, StripeEvent, Subscription } from './objects.ts';

/** Layout of the file. Layout 1 had no number. */
const LAYOUT = 2;

const empty = () => ({
  layout: LAYOUT,
  /** By how much the clock here is ahead of this machine's. */
  aheadSeconds: 0,
  customers: [] as Customer[],
  checkouts: [] as Checkout[],
  portals: [] as Portal[],
  subscriptions: [] as Subscription[],
  events: [] as StripeEvent[],
});

/**
 * Everything in memory, and in one JSON file where one is named.
 *
 * @throws SetupError if another version has written the file
 */
export const openStore = (file: string | undefined) => {
  const stored =
    file && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof empty>) : empty();
  if (stored.layout !== LAYOUT)
    throw new SetupError(`${file} is of another version: delete it. Accounts keep their plan and cannot change it.`);
  return Object.assign(stored, {
    /** Epoch seconds by the clock here. */
    now: () => Math.floor(Date.now() / 1_000) + stored.aheadSeconds,
    save: () => {
      if (file) writeFileAtomically(file, JSON.stringify(stored));
    },
  });
};
export type Store = ReturnType<typeof openStore>;

/** @throws HTTPException 404 if there is no such object */
export const find = <T extends { readonly id: string }>(objects: readonly T[], wanted: string | null): T => {
  const found = objects.find(({ id }) => id === wanted);
  if (found === undefined) throw new HTTPException(404, { message: `No such object: '${wanted}'` });
  return found;
};
