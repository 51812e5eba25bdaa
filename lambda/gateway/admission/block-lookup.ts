import { blocksKey } from '../../data/table/keys.ts';
import { periodNames } from '../../domain/calendar/periods.ts';
import type { AccessRule } from '../../domain/limits/access.ts';
import { type BlockScope, type Blocks, NO_BLOCKS, parseBlocks } from '../../domain/limits/block.ts';
import type { LimitPeriod } from '../../domain/limits/each.ts';
import type { AwsCall } from '../aws/aws-json.ts';
import { cachedReads, SHORT_LIVED, type Unavailable } from './cached-reads.ts';

/** Reads the blocks of one account from the table. Rejects when the store cannot be read. */
type ReadBlocks = (accountId: string) => Promise<Blocks>;

const scopeMembers = {
  ...{ provider: true, model: true, tag: true, keyIds: true, client: true, sessionId: true, metadata: true },
  ...{ key: true, project: true, role: true },
} satisfies Record<keyof BlockScope | keyof AccessRule['scope'], true>;

interface Entry {
  readonly scope: object;
  readonly kind?: string;
  readonly period?: LimitPeriod;
}

/** The dashboard may be a version ahead. By the members of a scope that are known alone, its entry would stop other requests, too. */
const isKnown = ({ scope, kind = 'pause', period }: Entry): boolean =>
  Object.keys(scope).every((name) => Object.hasOwn(scopeMembers, name)) &&
  (kind === 'pause' || kind === 'budget') &&
  (typeof period !== 'string' || periodNames.includes(period));

const known = ({ blocks, remaining, reserved, access, each, ...others }: Blocks): Blocks => ({
  ...others,
  blocks: blocks.filter(isKnown),
  remaining: remaining.filter(isKnown),
  reserved: reserved.filter(isKnown),
  access: access.filter(isKnown),
  each: each.filter(isKnown),
});

interface StoredBlocks {
  readonly json?: { readonly S?: string };
  /** Instead of it, where it is long. In base64. */
  readonly gzip?: { readonly B?: string };
}

/** Loads zlib with the first such item: few accounts have one. */
const unzipped = (base64: string): string =>
  String(process.getBuiltinModule('node:zlib').gunzipSync(Buffer.from(base64, 'base64')));

/** One eventually consistent GetItem. An account without the item has no blocks. */
export const blockReader =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number): ReadBlocks =>
  async (accountId) => {
    const { pk, sk } = blocksKey(accountId);
    const response = await dynamodb(
      'GetItem',
      { TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } },
      timeoutMs,
    );
    const item = response['Item'] as StoredBlocks | undefined;
    const json = item?.json?.S ?? (item?.gzip?.B && unzipped(item.gzip.B));
    return json ? known(parseBlocks(json)) : NO_BLOCKS;
  };

/** Caches the blocks of accounts in the process: for 5 s; from 3 s on they are read again in the background. */
export const cachedBlockLookup = (
  read: ReadBlocks,
): ((accountId: string) => Blocks | Unavailable | Promise<Blocks | Unavailable>) => cachedReads(read, SHORT_LIVED);

export type BlockLookup = ReturnType<typeof cachedBlockLookup>;
