import { z } from 'zod';
import { CommandError, runCommand } from './command.ts';
import { moveToAccountIds, prepareKeys, removePlainKeys } from './migrate/account-ids.ts';
import { openTable } from './open-table.ts';

const USAGE = `npm run migrate -- prepare [--table NAME] [--dry-run]
npm run migrate -- move [--table NAME] [--dry-run]
npm run migrate -- finish [--table NAME] [--dry-run]

Brings a table that version 0.1 wrote to version 0.2: accounts get internal ids, and service keys are stored as hashes.

prepare  Adds the hashed form of every service key, so that gateways of both versions admit the same traffic. Changes nothing else.
move     Moves all items to the internal ids, while the functions that write to the table are paused.
finish   Removes the service keys that stand in the clear, once no gateway of 0.1 runs.

docs/runbook.md (Migrate from 0.1) has the order. Each may run again. The stack on one machine migrates its own data at its start.

  --table NAME   default: the environment variable TABLE_NAME
Region and credentials come from the AWS environment.`;

const schema = z.object({
  _: z.tuple([z.enum(['prepare', 'move', 'finish'], 'prepare, move or finish')]),
  table: z.string().min(1, '--table or TABLE_NAME is needed'),
  'dry-run': z.boolean(),
});

await runCommand(
  { usage: USAGE, schema, options: { table: { type: 'string', default: process.env['TABLE_NAME'] ?? '' } } },
  async ({ _: [action], table: name, 'dry-run': dryRun }) => {
    const table = await openTable(name);
    const would = dryRun ? 'would be ' : '';
    if (action === 'prepare') {
      console.log(`${await prepareKeys(table, { dryRun })} accounts ${would}prepared.`);
      return;
    }
    if (action === 'finish') {
      console.log(`${await removePlainKeys(table, { dryRun })} keys in the clear ${would}removed.`);
      return;
    }
    const { accounts, items, conflicts } = await moveToAccountIds(table, { dryRun });
    console.log(`${items} items of ${accounts} accounts ${would}moved.`);
    if (conflicts.length === 0) return;
    for (const { pk, sk } of conflicts.slice(0, 20))
      console.error(`not moved: ${pk.replace(/svc_\w+/, 'svc_…')} ${sk}`);
    throw new CommandError(`${conflicts.length} items were not moved: both versions have written the same item.`);
  },
);
