import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import type { Role } from '../../domain/accounts/permissions.ts';
import type { PeriodName } from '../../domain/calendar/periods.ts';
import { ConflictError } from '../../domain/errors.ts';
import { type Block, type BlockPolicy, type Blocks, type EachLimit, NO_BLOCKS } from '../../domain/limits/block.ts';
import type { EachName, GroupAmount } from '../../domain/limits/each.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { type Action, check, IS_NEW, put } from '../table/actions.ts';
import { blocksKey, ruleKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { retryConflicts, transact } from '../table/write.ts';
import { openRules, type Rule } from './rules.ts';

/*
 * Members and names that a later version wrote stay: an earlier one may judge and write the same item while one replaces the other.
 */
const text = z.string();
/** One of a few names, or that of a later version. */
const name = <Name extends string>() => z.custom<Name>((value) => typeof value === 'string');
const policy = name<BlockPolicy>();
const scope = z.looseObject({
  provider: z.optional(text),
  model: z.optional(text),
  tag: z.optional(text),
  keyIds: z.optional(z.array(text)),
  client: z.optional(text),
  sessionId: z.optional(text),
  metadata: z.optional(z.record(text, text)),
});

const period = z.union([name<PeriodName>(), z.looseObject({ from: text, to: text })]);

const eachLimit: z.ZodMiniType<EachLimit> = z.looseObject({
  id: text,
  name: text,
  each: name<EachName>(),
  scope,
  period,
  amountNanoUsd: z.number(),
  groups: z.array(
    z.looseObject({
      source: name<GroupAmount['source']>(),
      name: text,
      amountNanoUsd: z.number(),
      values: z.array(text),
    }),
  ),
  percent: z.number(),
  enforcement: z.nullable(name<'lagging' | 'reserved'>()),
  unknownCost: z.union([policy, z.number()]),
  onUnavailable: policy,
  showsRemaining: z.boolean(),
  notifyAt: z.array(z.number()),
  askUrl: text,
});

const blocksSchema: z.ZodMiniType<Blocks> = z.looseObject({
  blocks: z.array(
    z.looseObject({
      id: text,
      kind: name<Block['kind']>(),
      name: text,
      scope,
      until: z.nullable(text),
      amountNanoUsd: z.nullable(z.number()),
      spentNanoUsd: z.nullable(z.number()),
      startedAt: z.optional(text),
      ruleId: z.optional(text),
      projectId: z.optional(text),
    }),
  ),
  remaining: z.array(z.looseObject({ id: text, scope, until: text, nanoUsd: z.number() })),
  reserved: z._default(
    z.array(
      z.looseObject({
        id: text,
        name: text,
        scope,
        period,
        amountNanoUsd: z.number(),
        limitNanoUsd: z.number(),
        unknownCost: z.union([policy, z.number()]),
        onUnavailable: policy,
      }),
    ),
    [],
  ),
  access: z._default(
    z.array(
      z.looseObject({
        id: text,
        name: text,
        scope: z.looseObject({ key: z.optional(text), project: z.optional(text), role: z.optional(name<Role>()) }),
        allowed: z.nullable(z.array(text)),
        denied: z.array(text),
        maxRequestUsd: z.nullable(z.number()),
        createdAt: text,
      }),
    ),
    [],
  ),
  each: z._default(z.array(eachLimit), []),
  keys: z._default(z.record(text, z.looseObject({ project: text, member: z.optional(text) })), {}),
});

const itemSchema = z.object({
  version: z.int(),
  json: z.optional(text),
  gzip: z.optional(z.custom<Uint8Array>((value) => value instanceof Uint8Array)),
});

/** Longer JSON is compressed: an item has 400 KB, and each budget of a project names its keys. Gateways of earlier versions read no other. */
const MAX_JSON_BYTES = 300_000;

const stored = (blocks: Blocks): { readonly json: string } | { readonly gzip: Uint8Array } => {
  const json = JSON.stringify(blocks);
  return Buffer.byteLength(json) > MAX_JSON_BYTES ? { gzip: gzipSync(json) } : { json };
};

/** The blocks of accounts, which the gateway reads: one item each, as JSON, so that reading it costs the gateway little. */
export const openBlocks = (table: Table) => {
  const read = async (accountId: string): Promise<{ readonly version: number; readonly blocks: Blocks }> => {
    const item = await findItem(table, blocksKey(accountId));
    if (item === undefined) return { version: 0, blocks: NO_BLOCKS };
    const { version, gzip, json = String(gunzipSync(gzip ?? '')) } = itemSchema.parse(item);
    return { version, blocks: blocksSchema.parse(JSON.parse(json)) };
  };

  type Checks = (before: Blocks, after: Blocks) => readonly Action[];

  const write = (
    accountId: string,
    change: (blocks: Blocks) => Blocks,
    audit: () => readonly AuditEntry[],
    checks: Checks = () => [],
  ): Promise<void> =>
    retryConflicts(async () => {
      const { version, blocks } = await read(accountId);
      const changed = blocksSchema.parse(change(blocks));
      if (isDeepStrictEqual(changed, blocks)) return;
      const item = { ...blocksKey(accountId), version: version + 1, ...stored(changed) };
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
     * they write what limits stop after that.
     *
     * @param rules the active ones with a limit
     */
    changeByLimits: async (
      accountId: string,
      rules: readonly Pick<Rule, 'ruleId' | 'revision'>[],
      change: (blocks: Blocks) => Blocks,
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
        return write(accountId, changed, () => [], areAsRead).then(
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
