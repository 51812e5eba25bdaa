import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { SignOn } from '../../domain/accounts/sign-on.ts';
import { ConflictError } from '../../domain/errors.ts';
import { accountKey, signOnKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { type NewUser, newUserItems } from './users.ts';

const linkSchema = z.object({ accountId: z.string() });

/** Which account uses which identity provider: at most one each. The account's item has its settings. */
export const openSignOns = ({ client, name }: Table) => ({
  /** Internal id of the account that uses a provider. */
  accountOf: async (provider: string): Promise<string | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: signOnKey(provider), ConsistentRead: true }),
    );
    return Item && linkSchema.parse(Item).accountId;
  },

  /**
   * Changes an account's single sign-on, or ends it.
   *
   * @param former what it was when it was read
   * @throws ConflictError if another account uses the provider, or another request changed the settings
   */
  set: async (
    accountId: string,
    former: SignOn | undefined,
    signOn: SignOn | undefined,
    audit: AuditEntry,
  ): Promise<void> => {
    const isOther = former !== undefined && former.provider !== signOn?.provider;
    try {
      await transact({ client }, [
        {
          Update: {
            TableName: name,
            Key: accountKey(accountId),
            UpdateExpression: signOn === undefined ? 'REMOVE signOn' : 'SET signOn = :signOn',
            ConditionExpression: former === undefined ? 'attribute_not_exists(signOn)' : 'signOn = :former',
            ...((former ?? signOn) !== undefined && {
              ExpressionAttributeValues: { ...(former && { ':former': former }), ...(signOn && { ':signOn': signOn }) },
            }),
          },
        },
        putAudit(name, audit),
        ...(signOn === undefined
          ? []
          : [
              {
                Put: {
                  TableName: name,
                  Item: { ...signOnKey(signOn.provider), accountId },
                  ConditionExpression: 'attribute_not_exists(pk) OR accountId = :account',
                  ExpressionAttributeValues: { ':account': accountId },
                },
              },
            ]),
        ...(isOther ? [{ Delete: { TableName: name, Key: signOnKey(former.provider) } }] : []),
      ]);
    } catch (error) {
      if (!(error instanceof ConditionsFailedError)) throw error;
      throw new ConflictError(
        error.refused[0]
          ? 'Another request changed the settings of single sign-on. Read them again.'
          : 'Another account uses this identity provider. Ask the operator of this service.',
      );
    }
  },

  /** Makes a person who signed in for the first time a member, if the account still uses the provider. @throws ConflictError */
  join: async (user: NewUser, provider: string, audit: AuditEntry): Promise<void> => {
    try {
      await transact({ client }, [
        {
          ConditionCheck: {
            TableName: name,
            Key: accountKey(user.accountId),
            ConditionExpression: 'signOn.provider = :provider',
            ExpressionAttributeValues: { ':provider': provider },
          },
        },
        ...newUserItems(user).map((Item) => ({
          Put: { TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' },
        })),
        putAudit(name, audit),
      ]);
    } catch (error) {
      if (error instanceof ConditionsFailedError) throw new ConflictError('Sign in again.');
      throw error;
    }
  },
});

export type SignOns = ReturnType<typeof openSignOns>;
