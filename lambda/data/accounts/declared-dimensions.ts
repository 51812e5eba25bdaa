import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ConflictError } from '../../domain/errors.ts';
import type { DeclaredDimension } from '../../domain/spend/declared-dimensions.ts';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const period = z.object({ from: z.iso.datetime(), until: z.nullable(z.iso.datetime()) });

/** The member `dimensions` of an account: what it declared, now or before. */
export const storedDimensions = z._default(z.array(z.object({ name: z.string(), periods: z.array(period) })), []);

const stored = z.object({ dimensions: storedDimensions });

/** The metadata names that accounts declared as dimensions of their spend. */
export const openDeclaredDimensions = ({ client, name }: Table) => ({
  /** @param options `consistent`: a declaration just made shows */
  find: async (accountId: string, options = { consistent: true }): Promise<readonly DeclaredDimension[]> => {
    const { Item } = await client.send(
      new GetCommand({
        TableName: name,
        Key: { ...accountKey(accountId) },
        ProjectionExpression: 'dimensions',
        ConsistentRead: options.consistent,
      }),
    );
    return stored.parse(Item ?? {}).dimensions;
  },

  /**
   * Replaces them, with an entry in the audit log.
   *
   * @throws ConflictError where they are not as they were read
   */
  replace: async (
    {
      accountId,
      before,
      after,
    }: {
      readonly accountId: string;
      readonly before: readonly DeclaredDimension[];
      readonly after: readonly DeclaredDimension[];
    },
    audit: AuditEntry,
  ): Promise<void> => {
    const change = {
      Update: {
        TableName: name,
        Key: { ...accountKey(accountId) },
        UpdateExpression: 'SET dimensions = :after',
        ConditionExpression:
          before.length === 0
            ? 'attribute_exists(pk) AND attribute_not_exists(dimensions)'
            : 'attribute_exists(pk) AND dimensions = :before',
        ExpressionAttributeValues: { ':after': after, ...(before.length > 0 && { ':before': before }) },
      },
    };
    try {
      await transact({ client }, [change, putAudit(name, audit)]);
    } catch (error) {
      if (!(error instanceof ConditionsFailedError)) throw error;
      throw new ConflictError('The dimensions were changed in the meantime. Read them again.');
    }
  },
});

export type DeclaredDimensions = ReturnType<typeof openDeclaredDimensions>;
