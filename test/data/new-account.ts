import { randomBytes, randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { newServiceKey, openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { newUserItems } from '../../lambda/data/accounts/users.ts';
import { put } from '../../lambda/data/table/actions.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { transact } from '../../lambda/data/table/write.ts';
import { newAccountKey } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import type { PlanName } from '../../lambda/domain/billing/plans.ts';

/** Creates a registered account in the table, without the identity provider. */
export const newAccount = async (table: Table, plan: PlanName = 'FREE', isVerified = true) => {
  const accountId = uuidv7();
  const accountKey = newAccountKey(randomBytes);
  const userId: string = randomUUID();
  const keyId = uuidv7();
  const email = `${userId}@example.com`;
  const createdAt = '2026-11-01T00:00:00.000Z';
  await openAccounts(table).create({
    account: {
      accountId,
      accountKey,
      status: 'active',
      plan,
      billingStatus: 'ACTIVE',
      ownerUserId: userId,
      activeKeys: 1,
      createdAt,
    },
    user: {
      userId,
      accountId,
      role: 'owner',
      email,
      emailVerifiedAt: isVerified ? createdAt : null,
      firstName: 'Ada',
      lastName: 'Lovelace',
      companyName: null,
      createdAt,
    },
    keyId,
  });
  return { accountId, accountKey, userId, keyId, email };
};

/** Somebody of the account, without the identity provider. */
export const newMember = (table: Table, accountId: string, userId: string, role: Role, projects?: string[]) => {
  const createdAt = '2026-11-02T00:00:00.000Z';
  const names = { email: `${userId}@example.com`, firstName: userId, lastName: '', companyName: null };
  const user = { userId, accountId, role, projects, ...names, emailVerifiedAt: createdAt, createdAt };
  return transact(
    table,
    newUserItems(user).map((item) => put(item)),
  );
};

/** One more service key of the account. */
export const newKey = async (
  table: Table,
  accountId: string,
  facts: Partial<Parameters<typeof newServiceKey>[0]> = {},
  secret = newAccountKey(randomBytes),
) => {
  const key = newServiceKey({ keyId: uuidv7(), name: 'key', createdAt: '2026-11-02T00:00:00.000Z', ...facts }, secret);
  await openServiceKeys(table).create({ accountId, status: 'active' }, key, 1_000);
  return key;
};

/** As a registration leaves it until the code from the mail is entered. */
export const newUnverifiedAccount = (table: Table) => newAccount(table, 'FREE', false);
