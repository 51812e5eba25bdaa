import { z } from 'zod';
import { type AccountStanding, openAccountHolds } from '../lambda/data/accounts/account-holds.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { NotFoundError } from '../lambda/domain/errors.ts';
import { accountIdOf, accountName } from './account-id.ts';
import { CommandError, flag, runCommand, tableName } from './command.ts';

const USAGE = `npm run account -- show KEY [--table NAME]
npm run account -- suspend KEY --reason TEXT [--table NAME] [--dry-run]
npm run account -- restore KEY [--table NAME] [--dry-run]

Suspends an account by hand, or ends that. The account and the copy of its status on every key are written in one transaction. While it is
suspended its proxy requests get 403 ACCOUNT_INACTIVE, and no payment restores it: "restore" does. Gateway processes
remember keys for a minute, so either takes effect within that. "restore" also brings a cancelled account back; one that owes money
stays suspended until it is paid.

  KEY            the account key (svc_…), any other service key of the account, or its internal id
  --reason TEXT  kept with the account
  --table NAME   default: the environment variable TABLE_NAME
Region and credentials come from the AWS environment.`;

const schema = z
  .object({
    _: z.tuple([z.enum(['show', 'suspend', 'restore'], 'show, suspend or restore'), accountName]),
    reason: z.string().min(1).max(500).optional(),
    table: tableName,
    'dry-run': flag,
  })
  .refine(({ _: [action], reason }) => action !== 'suspend' || reason !== undefined, '--reason is needed');

const describe = ({ status, plan, billingStatus, heldAt, heldReason }: AccountStanding): string =>
  `${status} (plan ${plan}, billing ${billingStatus}${heldAt === undefined ? '' : `, suspended by hand since ${heldAt}: ${heldReason}`})`;

await runCommand(
  { usage: USAGE, schema },
  async ({ _: [action, name], reason = '', table: tableName, 'dry-run': dryRun }) => {
    const table = openTable(tableName);
    const holds = openAccountHolds(table);
    const accountId = await accountIdOf(table, name);
    const before = await holds.find(accountId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? new CommandError('There is no such account.') : error;
    });
    console.log(`Account is ${describe(before)}.`);
    const stale = await holds.keysWithout(accountId, before.status);
    if (stale.length > 0) console.log(`${stale.length} of its keys say otherwise.`);
    if (action === 'show') return;
    if (dryRun) {
      const after = action === 'restore' ? holds.statusWithoutHold(before) : 'suspended';
      console.log(`It would be ${before.status === 'cancelled' && action === 'suspend' ? before.status : after}.`);
      return;
    }
    const after =
      action === 'suspend'
        ? await holds.hold(accountId, { at: new Date().toISOString(), reason })
        : await holds.release(accountId);
    console.log(`Now it is ${describe(after)}, and so are its keys.`);
  },
);
