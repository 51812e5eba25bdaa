import { blocksKey } from '../../data/table/keys.ts';
import { type Blocks, NO_BLOCKS } from '../../domain/limits/block.ts';
import type { AwsCall } from '../aws/aws-json.ts';
import { cachedReads, SHORT_LIVED, type Unavailable } from './cached-reads.ts';

/** Reads the blocks of one account from the table. Rejects when the store cannot be read. */
type ReadBlocks = (accountId: string) => Promise<Blocks>;

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
    const item = response['Item'] as { readonly json?: { readonly S?: string } } | undefined;
    return item?.json?.S ? { ...NO_BLOCKS, ...JSON.parse(item.json.S) } : NO_BLOCKS;
  };

/** Caches the blocks of accounts in the process: for 5 s; from 3 s on they are read again in the background. */
export const cachedBlockLookup = (
  read: ReadBlocks,
): ((accountId: string) => Blocks | Unavailable | Promise<Blocks | Unavailable>) => cachedReads(read, SHORT_LIVED);

export type BlockLookup = ReturnType<typeof cachedBlockLookup>;
