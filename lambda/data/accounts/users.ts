import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { accountKey, accountUserKey, userKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const userSchema = z.object({
  /** The `sub` of the identity provider. */
  userId: z.string(),
  accountId: z.string(),
  /** Lower case. */
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  companyName: z.nullable(z.string()),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
});

export type User = z.infer<typeof userSchema>;

/** The members of a user that a mail needs. */
const recipientSchema = z.pick(userSchema, { userId: true, email: true, firstName: true });
export type Recipient = z.infer<typeof recipientSchema>;

/** A user has two items, written together: one by user id, and one in the account's list. */
export const newUserItems = (user: User) => [
  { ...userKey(user.userId), ...user },
  { ...accountUserKey(user.accountId, user.userId), ...recipientSchema.parse(user) },
];

export const openUsers = ({ client, name }: Table) => ({
  /** Undefined if there is none. A consistent read, because clients read right after they register. */
  find: async (userId: string): Promise<User | undefined> => {
    const { Item } = await client.send(new GetCommand({ TableName: name, Key: userKey(userId), ConsistentRead: true }));
    return Item && userSchema.parse(Item);
  },

  /** Recipients of mails to the account. Reads one page (1 MB), which has room for thousands of users. */
  recipients: async (accountId: string): Promise<Recipient[]> => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :users)',
        ExpressionAttributeValues: { ':pk': accountKey(accountId).pk, ':users': accountUserKey(accountId, '').sk },
      }),
    );
    return Items.map((item) => recipientSchema.parse(item));
  },
});

export type Users = ReturnType<typeof openUsers>;
