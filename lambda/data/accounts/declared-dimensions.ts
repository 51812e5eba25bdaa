import * as z from 'zod/mini';
import { ConflictError } from '../../domain/errors.ts';
import { type DeclaredDimension, declaredDimensionSchema } from '../../domain/spend/declared-dimensions.ts';
import { EXISTS, update } from '../table/actions.ts';
import { accountKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

/** The member `dimensions` of an account: what it declared, now or before. */
export const storedDimensions = z._default(z.array(declaredDimensionSchema), []);

const stored = z.object({ dimensions: storedDimensions });

/** The metadata names that accounts declared as dimensions of their spend. */
export const openDeclaredDimensions = (table: Table) => ({
  /** @param options `consistent`: a declaration just made shows */
  find: async (accountId: string, options = { consistent: true }): Promise<readonly DeclaredDimension[]> => {
    const item = await findItem(table, accountKey(accountId), { ...options, attributes: 'dimensions' });
    return stored.parse(item ?? {}).dimensions;
  },

  /**
   * Replaces them, with an entry in the audit log.
   *
   * @throws ConflictError where they are not as they were read
   */
  replace: async (
    before: readonly DeclaredDimension[],
    after: readonly DeclaredDimension[],
    audit: AuditEntry,
  ): Promise<void> => {
    const isSame = before.length === 0 ? 'attribute_not_exists(dimensions)' : 'dimensions = :before';
    const change = update(accountKey(audit.accountId), 'SET dimensions = :after', `${EXISTS} AND ${isSame}`, {
      after,
      before: before.length === 0 ? undefined : before,
    });
    await transact(
      table,
      [change, putAudit(audit)],
      () => new ConflictError('The dimensions were changed in the meantime. Read them again.'),
    );
  },
});
