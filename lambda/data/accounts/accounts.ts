import * as z from 'zod/mini';
import { signOnSchema } from '../../domain/accounts/sign-on.ts';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';
import { EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import { accountKey } from '../table/keys.ts';
import { findAs } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { newKeyItems, newServiceKey } from './service-keys.ts';
import { type NewUser, newUserItems } from './users.ts';

const accountSchema = z.object({
  /** Internal id, a UUIDv7. All data of the account is stored under it. */
  accountId: z.string(),
  /** The account's first service key, which the API calls `accountId`. A credential: shown to owners and admins, never logged. */
  accountKey: z.string(),
  status: z.enum(accountStatuses),
  plan: z.enum(planNames),
  billingStatus: z.enum(billingStatuses),
  ownerUserId: z.string(),
  /** Members log in with a second factor only. */
  requiresTotp: z.optional(z.boolean()),
  /** Whose days and weeks reports and pages have: see lambda/domain/reports/report.ts. */
  reportCalendar: z.optional(z.object({ timeZone: z.string() })),
  /** Counted here, so that concurrent creations cannot exceed the plan's limit. */
  activeKeys: z.int().check(z.nonnegative()),
  /** Set where budgets or pauses may stop requests: see key-copies.ts. */
  withoutBlocks: z.optional(z.enum(['pass', 'stop'])),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  /** Undefined if the account does not use single sign-on. */
  signOn: z.optional(signOnSchema),
});

export type Account = z.infer<typeof accountSchema>;

/** A registration creates an account, its first service key (the account key) and its first user. */
export interface NewAccount {
  readonly account: Account;
  readonly user: NewUser;
  readonly keyId: string;
}

/** @throws UnauthenticatedError if the account of the token was deleted */
export const requireAccount = async <A>(
  { find }: { find(accountId: string): Promise<A | undefined> },
  accountId: string,
): Promise<A> => {
  const account = await find(accountId);
  if (account === undefined) throw new UnauthenticatedError('The account of this token no longer exists.');
  return account;
};

const storedKeySchema = z.object({ pk: z.string() });
const accountPrefix = accountKey('').pk;

const registrationItems = ({ account, user, keyId }: NewAccount) => [
  { ...accountKey(account.accountId), ...account },
  ...newKeyItems(
    account,
    newServiceKey(
      { keyId, name: 'default', createdAt: account.createdAt, ownerUserId: user.userId, ownerRole: user.role },
      account.accountKey,
    ),
  ),
  ...newUserItems(user),
];

export const openAccounts = (table: Table) => ({
  /** Undefined if there is none. A consistent read, because clients read right after they register. */
  find: (accountId: string): Promise<Account | undefined> => findAs(table, accountKey(accountId), accountSchema),

  /** Creates account, key and user in one transaction. Throws if one of them already exists. */
  create: async (registration: NewAccount): Promise<void> => {
    await transact(
      table,
      registrationItems(registration).map((item) => put(item, IS_NEW)),
    );
  },

  /** Deletes what `create` made, all or none. Succeeds if nothing is there. */
  rollBack: async (registration: NewAccount): Promise<void> => {
    await transact(
      table,
      registrationItems(registration).map((item) => remove(item)),
    );
  },

  setRequiresTotp: (isRequired: boolean, audit: AuditEntry): Promise<void> =>
    transact(table, [
      update(accountKey(audit.accountId), 'SET requiresTotp = :isRequired', EXISTS, { isRequired }),
      putAudit(audit),
    ]),

  /** Internal ids of all accounts. Scans the whole table: for operations, never for a request. */
  async *allIds(): AsyncGenerator<string> {
    let start: Record<string, unknown> | undefined;
    do {
      const page = await table.call('Scan', {
        TableName: table.name,
        ExclusiveStartKey: start,
        FilterExpression: 'sk = :meta AND begins_with(pk, :account)',
        ExpressionAttributeValues: { ':meta': accountKey('').sk, ':account': accountPrefix },
        ProjectionExpression: 'pk',
      });
      for (const item of page.Items ?? []) yield storedKeySchema.parse(item).pk.slice(accountPrefix.length);
      start = page.LastEvaluatedKey;
    } while (start);
  },
});
