import { z } from 'zod';
import type { AccountStatus } from '../domain/plans.ts';
import { accountServiceKeyKey, serviceKeyKey } from './keys.ts';

export const serviceKeySchema = z.object({
  keyId: z.string(),
  name: z.string(),
  /** The key itself: needed to revoke it by id. Never leaves the data layer but at creation. */
  serviceKey: z.string(),
  status: z.enum(['active', 'revoked']),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  revokedAt: z.string().optional(),
});

export type ServiceKey = z.infer<typeof serviceKeySchema>;

/** A key is found by itself (what the gateway reads, the account's status copied in), and listed under the account. */
export const newKeyItems = ({
  accountId,
  accountStatus,
  key,
}: {
  accountId: string;
  accountStatus: AccountStatus;
  key: ServiceKey;
}) => [
  { ...serviceKeyKey(key.serviceKey), accountId, keyId: key.keyId, keyStatus: key.status, accountStatus },
  { ...accountServiceKeyKey(accountId, key.keyId), ...key },
];
