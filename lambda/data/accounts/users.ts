import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { roles } from '../../domain/accounts/permissions.ts';
import { accountKey, accountUserKey, userKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const userSchema = z.object({
  /** The `sub` of the identity provider. */
  userId: z.string(),
  accountId: z.string(),
  /** Absent in items of 0.1: an account's only user owned it. */
  role: z._default(z.enum(roles), 'owner'),
  /** Lower case. */
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  companyName: z.nullable(z.string()),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
});

export type User = z.infer<typeof userSchema>;

export const parseUser = (item: Record<string, unknown>): User => userSchema.parse(item);

/** Mail to a user is not sent until an instant (ISO 8601 UTC), because of what SES reported. */
const mailBlockSchema = z.object({ reason: z.enum(['bounce', 'complaint']), until: z.string() });
export type MailBlock = z.infer<typeof mailBlockSchema>;

/** The members of a user that a mail needs. */
const recipientSchema = z.extend(z.pick(userSchema, { userId: true, email: true, firstName: true }), {
  mailBlock: z.optional(mailBlockSchema),
});
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

  /** Recipients of mails to the account, also those to whom mail is blocked. Reads one page (1 MB), which has room for thousands of users. */
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

  /** Replaces a block that is there already. */
  blockMail: async (accountId: string, userId: string, block: MailBlock): Promise<void> => {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: accountUserKey(accountId, userId),
        UpdateExpression: 'SET mailBlock = :block',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':block': block },
      }),
    );
  },
});

export type Users = ReturnType<typeof openUsers>;
