import { z } from 'zod';
import { type AccountStanding, openAccountHolds } from '../lambda/data/accounts/account-holds.ts';
import { openAuditLog } from '../lambda/data/accounts/audit-log.ts';
import type { Link } from '../lambda/data/table/chain.ts';
import { openTable, type Table } from '../lambda/data/table/table.ts';
import { auditHeadPrefix } from '../lambda/domain/object-keys.ts';
import { openObjectStore } from '../lambda/integrations/object-store.ts';
import { accountIdOf, accountName } from './account-id.ts';
import { flag, runCommand, tableName } from './command.ts';

const exportedHead = z.object({ hash: z.string(), until: z.number() });

const nameOf = ({ at, action, auditId }: Link): string => `${action} of ${at} (${auditId})`;

/** Days whose export names a last entry that is not in the log any more, though it is not too old for it. */
const daysWithout = async (accountId: string, bucket: string, intact: ReadonlySet<string>, nowSeconds: number) => {
  const objects = openObjectStore(bucket);
  const prefix = auditHeadPrefix(accountId);
  const days: string[] = [];
  let compared = 0;
  for await (const keys of objects.list(prefix))
    for (const key of keys) {
      const { hash, until } = exportedHead.parse(JSON.parse(Buffer.from((await objects.get(key)) ?? []).toString()));
      if (until <= nowSeconds) continue;
      compared += 1;
      if (!intact.has(hash)) days.push(key.slice(prefix.length).replace('.json', ''));
    }
  return { days, compared };
};

/** Whether the audit log of an account is as it was written, and what is not, as lines for people. */
const checkAudit = async (
  table: Table,
  accountId: string,
  bucket: string | undefined,
): Promise<{ readonly lines: readonly string[]; readonly isWhole: boolean }> => {
  const now = new Date();
  const { intact, astray, brokenBefore, earlier } = await openAuditLog(table).check(accountId, now);
  const lines = [`${intact.size} entries are as they were written.`];
  if (earlier > 0)
    lines.push(`${earlier} were written before entries had the hash of the entry before them, and cannot be checked.`);
  if (brokenBefore !== null)
    lines.push(
      brokenBefore === 'head'
        ? 'The last entry was changed or removed.'
        : `An entry was changed or removed before ${nameOf(brokenBefore)}.`,
    );
  if (astray.length > 0)
    lines.push('Changed, added by hand, or before what is missing:', ...astray.map((link) => `  ${nameOf(link)}`));
  let isWhole = brokenBefore === null && astray.length === 0;
  if (bucket === undefined) lines.push('Not compared with exported days: no --bucket.');
  else {
    const { days, compared } = await daysWithout(accountId, bucket, intact, now.getTime() / 1_000);
    lines.push(`Compared with ${compared} exported days.`);
    if (days.length > 0) lines.push(`The log was rewritten: it lacks the last entry of ${days.join(', ')}.`);
    isWhole &&= days.length === 0;
  }
  return { lines, isWhole };
};

const USAGE = `npm run account -- show KEY [--table NAME]
npm run account -- suspend KEY --reason TEXT [--table NAME] [--dry-run]
npm run account -- restore KEY [--table NAME] [--dry-run]
npm run account -- audit-check KEY [--table NAME] [--bucket NAME]

Suspends an account by hand, or ends that. The account and the copy of its status on every key are written in one transaction. While it is
suspended its proxy requests get 403 ACCOUNT_INACTIVE, and no payment restores it: "restore" does. Gateway processes
remember keys for a minute, so either takes effect within that. "restore" also brings a cancelled account back; debts keep an account
suspended until they are paid.

"audit-check" says whether an entry of the audit log was removed or changed, and exits 1 then. Each entry has the hash of the one before. With
--bucket it also compares the log with what each exported day says of it.

  KEY            the account key (svc_…), any other service key of the account, or its internal id
  --reason TEXT  kept with the account
  --table NAME   default: the environment variable TABLE_NAME
  --bucket NAME  the bucket of exports, default: OBJECT_BUCKET
Region and credentials come from the AWS environment.`;

const schema = z
  .object({
    _: z.tuple([
      z.enum(['show', 'suspend', 'restore', 'audit-check'], 'Begin with show, suspend, restore or audit-check.'),
      accountName,
    ]),
    reason: z.string().max(500).optional(),
    table: tableName,
    bucket: z.string().optional().prefault(process.env['OBJECT_BUCKET']),
    'dry-run': flag,
  })
  .refine(({ _: [action], reason }) => action !== 'suspend' || reason !== undefined, '--reason is needed');

const describe = ({ status, plan, billingStatus, heldAt, heldReason }: AccountStanding): string =>
  `${status} (plan ${plan}, billing ${billingStatus}${heldAt === undefined ? '' : `, suspended by hand since ${heldAt}: ${heldReason}`})`;

await runCommand(
  { usage: USAGE, schema },
  async ({ _: [action, name], reason = '', table: tableName, bucket, 'dry-run': dryRun }) => {
    const table = openTable(tableName);
    const holds = openAccountHolds(table);
    const accountId = await accountIdOf(table, name);
    if (action === 'audit-check') {
      const { lines, isWhole } = await checkAudit(table, accountId, bucket);
      console.log(lines.join('\n'));
      if (!isWhole) process.exitCode = 1;
      return;
    }
    const before = await holds.find(accountId);
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
