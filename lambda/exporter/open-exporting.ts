import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAuditLog } from '../data/accounts/audit-log.ts';
import { openOwnPrices } from '../data/accounts/own-prices.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openValueNames } from '../data/accounts/value-names.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openRollupMarks } from '../data/ledger/rollup-marks.ts';
import { openDayFiles } from '../data/requests/day-files.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSpendCounters } from '../data/spend/spend-counters.ts';
import type { Table } from '../data/table/table.ts';
import type { ExportedAccount, Named } from '../domain/exports/datasets.ts';
import { keyDimensionsOf } from '../domain/spend/key-dimensions.ts';
import type { ObjectStore } from '../integrations/object-store.ts';

/** The facts that an export of a day needs: the account's own prices, and the names of its keys, members and projects. */
const openDescribeAccount = (table: Table) => {
  const [ownPrices, keys, namesOf] = [openOwnPrices(table), openServiceKeys(table), openValueNames(table)];
  const users = openUsers(table);
  return async (accountId: string): Promise<ExportedAccount> => {
    const { prices, months } = (await ownPrices.read(accountId)).own;
    const [projects, members] = [await namesOf(accountId, 'project'), await namesOf(accountId, 'member')];
    const keysById = new Map((await keys.list(accountId)).map((key) => [key.keyId, key]));
    const owner = (await users.recipients(accountId)).find(({ role }) => role === 'owner');
    const user = owner && (await users.find(owner.userId));
    const accountName = user ? user.companyName || `${user.firstName} ${user.lastName}`.trim() || user.email : null;
    const named = (kind: Named['kind'], names: ReadonlyMap<string, string>): Named[] =>
      [...names].map(([id, name]) => ({ kind, id, name, project: null, member: null }));
    return {
      prices,
      months,
      names: [
        ...named('project', projects),
        ...named('member', members),
        ...[...keysById.values()].map((key) => ({
          ...({ kind: 'key', id: key.keyId, name: key.name } as const),
          ...keyDimensionsOf(key),
        })),
      ],
      namesOf: (keyId) => {
        const key = keysById.get(keyId ?? '');
        const { project = null, member = null } = key ? keyDimensionsOf(key) : {};
        return {
          accountId,
          accountName,
          projectId: project,
          projectName: projects.get(project ?? '') ?? null,
          keyName: key?.name ?? null,
          memberId: member,
          memberName: members.get(member ?? '') ?? null,
        };
      },
    };
  };
};

/**
 * The dependencies of exporting a day, and of moving it out of the table.
 *
 * @param tableDays days that records stay in the table; null: for their whole retention
 */
export const openExporting = (
  table: Table,
  objects: ObjectStore,
  tableDays: number | null,
  now: () => number = Date.now,
) => ({
  table,
  objects,
  tableDays,
  accountTerms: openAccountTerms(table, now),
  auditLog: openAuditLog(table),
  dayExports: openDayExports(table),
  dayFiles: openDayFiles(table, now),
  describeAccount: openDescribeAccount(table),
  marks: openRollupMarks(table, now),
  requests: openRequests(table, now, objects),
  spendCounters: openSpendCounters(table),
  now,
});

export type Exporting = ReturnType<typeof openExporting>;
