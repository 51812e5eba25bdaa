import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ConflictError } from '../../domain/errors.ts';
import { type Blocks, NO_BLOCKS, parseBlocks } from '../../domain/limits/block.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { type Action, check, IS_NEW, put } from '../table/actions.ts';
import { blocksKey, ruleKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { retryConflicts, transact } from '../table/write.ts';
import { openRules, type Rule } from './rules.ts';

const itemSchema = z.object({
  version: z.int(),
  json: z.optional(z.string()),
  gzip: z.optional(z.custom<Uint8Array>((value) => value instanceof Uint8Array)),
  /** When the judging began whose result it is, in epoch milliseconds. */
  judgedAtMs: z._default(z.number(), 0),
});

/** A judging writes its blocks within two minutes. What is further apart are clocks that differ: they must keep no limit from stopping. */
const MAX_OVERLAP_MS = 2 * MINUTE_MS;

/** Longer JSON is compressed: an item has 400 KB, and each budget of a project names its keys. Gateways of earlier versions read no other. */
const MAX_JSON_BYTES = 300_000;

const stored = (json: string) => (Buffer.byteLength(json) > MAX_JSON_BYTES ? { gzip: gzipSync(json) } : { json });

/** The blocks of accounts, which the gateway reads: one item each, as JSON, so that reading it costs the gateway little. */
export const openBlocks = (table: Table) => {
  const read = async (accountId: string) => {
    const item = await findItem(table, blocksKey(accountId));
    if (item === undefined) return { version: 0, judgedAtMs: 0, blocks: NO_BLOCKS };
    const { gzip, json = String(gunzipSync(gzip ?? '')), ...facts } = itemSchema.parse(item);
    return { ...facts, blocks: parseBlocks(json) };
  };

  type Checks = (before: Blocks, after: Blocks) => readonly Action[];

  const write = (
    accountId: string,
    change: (blocks: Blocks) => Blocks,
    audit: () => readonly AuditEntry[],
    checks: Checks = () => [],
    judgedAt?: Date,
  ): Promise<void> =>
    retryConflicts(async () => {
      const { version, judgedAtMs: before, blocks } = await read(accountId);
      const judgedAtMs = judgedAt?.getTime() ?? before;
      if (judgedAtMs < before && before - judgedAtMs < MAX_OVERLAP_MS) return;
      const json = JSON.stringify(change(blocks));
      const changed = parseBlocks(json);
      if (isDeepStrictEqual(changed, blocks)) return;
      const item = { ...blocksKey(accountId), version: version + 1, judgedAtMs, ...stored(json) };
      const replace = version === 0 ? put(item, IS_NEW) : put(item, 'version = :version', { version });
      const actions = [replace, ...checks(blocks, changed), ...audit().map(putAudit)];
      await transact(table, actions, ([_, ...refused]) =>
        refused.includes(true) ? new ConflictError('A limit was changed in the meantime. Try again.') : undefined,
      );
    });

  return {
    read: async (accountId: string): Promise<Blocks> => (await read(accountId)).blocks,

    /**
     * Changes an account's blocks. Writes nothing where they stay the same.
     *
     * @param change called again with what other writers wrote meanwhile
     * @param audit the entries to write together with the change, at most 49; called after `change`
     * @throws UnavailableError where others changed them at every attempt
     */
    change: (
      accountId: string,
      change: (blocks: Blocks) => Blocks,
      audit: () => readonly AuditEntry[] = () => [],
    ): Promise<void> => write(accountId, change, audit),

    /**
     * The same for what limits stop. Where somebody made, changed or deleted one of these limits since `rules` were read, it writes nothing:
     * they write what limits stop after that. Neither does it where the blocks are of a judging that began later.
     *
     * @param rules the active ones with a limit
     * @param judgedAt when the judging began, before it read spend; undefined for those who have just changed a limit
     */
    changeByLimits: async (
      accountId: string,
      rules: readonly Pick<Rule, 'ruleId' | 'revision'>[],
      change: (blocks: Blocks) => Blocks,
      judgedAt?: Date,
    ): Promise<void> => {
      const revisions = new Map(rules.map(({ ruleId, revision }) => [ruleId, revision]));
      const isAsRead = (id: string): Action => {
        const [key, revision] = [ruleKey(accountId, id), revisions.get(id)];
        return revision === undefined
          ? check(key, 'attribute_not_exists(pk) OR isActive = :false', { false: false })
          : check(key, 'revision = :revision', { revision });
      };
      const isWritten = (unread: ReadonlySet<unknown>): Promise<boolean> => {
        const areAsRead: Checks = (before, after) =>
          [...new Set([before, after].flatMap(limitsIn))].filter((id) => !unread.has(id)).map(isAsRead);
        const changed = (before: Blocks) => withUnread(change(before), before, unread);
        return write(accountId, changed, () => [], areAsRead, judgedAt).then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof ConflictError)) throw error;
            return false;
          },
        );
      };
      if (await isWritten(new Set())) return;
      const { unreadable } = await openRules(table).listAll(accountId);
      if (unreadable.length > 0) await isWritten(new Set(unreadable.map(({ ruleId }) => ruleId)));
    },
  };
};

/** What limits stop that a later version wrote, and this one cannot read, stays. What remains of them is not known. */
const withUnread = (after: Blocks, before: Blocks, unread: ReadonlySet<unknown>): Blocks => {
  if (unread.size === 0) return after;
  const stay = <L extends { readonly id: string }>(limits: readonly L[]) => limits.filter(({ id }) => unread.has(id));
  return {
    ...after,
    blocks: [...after.blocks, ...stay(before.blocks)],
    reserved: [...after.reserved, ...stay(before.reserved)],
    each: [...after.each, ...stay(before.each)],
    keys: { ...before.keys, ...after.keys },
  };
};

/** Ids of the limits that blocks come from. */
const limitsIn = ({ blocks, remaining, reserved, each }: Blocks): string[] =>
  [...blocks.filter(({ kind }) => kind === 'budget'), ...remaining, ...reserved, ...each].map(({ id }) => id);

export type BlockStore = ReturnType<typeof openBlocks>;
