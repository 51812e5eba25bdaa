import { globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { addDays, dayOf, daysBetween } from '../lambda/domain/calendar/utc.ts';
import { EXPORTS } from '../lambda/domain/object-keys.ts';
import { CommandError, flag, runCommand } from './command.ts';
import { checkFocus } from './focus/check.ts';
import { openQuery, type Query } from './query/duckdb.ts';

const USAGE = `npm run query -- "select …" [--data DIR] [--json]
npm run query -- --check-focus [--data DIR]

Runs SQL (DuckDB) over exported days on this machine: tables cost_and_usage (FOCUS 1.2), requests and names, each with the
columns account and day. Names of keys, projects and members are the latest.

  --data DIR      the data folder of the local stack, or a copy of the bucket (default: DATA_DIR, or .data)
  --json          one JSON object for each row instead of a table
  --check-focus   checks cost_and_usage by the rules of FOCUS 1.2; exits 1 where it breaks one

  npm run query -- "select day, x_Model, sum(x_Cost) from cost_and_usage group by all order by 1"`;

const schema = z
  .object({
    _: z.array(z.string()).max(1),
    data: z.string().default(process.env['DATA_DIR'] ?? '.data'),
    json: flag,
    'check-focus': flag,
  })
  .refine(
    ({ _, 'check-focus': check }) => check !== (_.length === 1),
    'Give one statement in quotes, or --check-focus.',
  );

/** The folder that object keys are relative to: of a copy of the bucket, or of one of the emulator's buckets. */
const folderIn = (data: string): string | undefined =>
  globSync([EXPORTS, join('objects/buckets/*/objects', EXPORTS)], { cwd: data }).map((each) =>
    join(data, dirname(each)),
  )[0];

/** Says what the files alone show to be missing; null for nothing. */
const missingDays = async ({ rows }: Query, now: Date): Promise<string | null> => {
  const [{ first, last, days } = {}] = await rows(
    'SELECT min(day) AS first, max(day) AS last, count(DISTINCT day)::INTEGER AS days FROM cost_and_usage',
  );
  if (!first || !last) return null;
  const yesterday = addDays(dayOf(now.toISOString()), -1);
  const gaps = daysBetween(String(first), String(last)).length - Number(days);
  if (last >= yesterday && gaps === 0) return null;
  const parts = [
    ...(gaps > 0 ? [`${gaps} days between ${first} and ${last} have no files`] : []),
    ...(last < yesterday ? [`the last day with files is ${last}`] : []),
  ];
  return `Note: ${parts.join(', and ')}. GET /exports says which days are due: the others have no requests.`;
};

await runCommand({ usage: USAGE, schema }, async ({ _: [sql = ''], data, json, 'check-focus': check }) => {
  const folder = folderIn(resolve(data));
  if (folder === undefined)
    throw new CommandError(`There are no exports in ${data}. A day is exported an hour after its end.`);
  const query = await openQuery(folder);
  try {
    if (check) {
      const errors = await checkFocus(query);
      console.log(errors.length === 0 ? 'FOCUS 1.2: 0 errors.' : errors.join('\n'));
      if (errors.length > 0) process.exitCode = 1;
      return;
    }
    const warning = await missingDays(query, new Date());
    if (warning !== null) console.error(warning);
    const rows = await query.rows(sql);
    if (json) for (const row of rows) console.log(JSON.stringify(row));
    else console.table(rows);
  } finally {
    query.close();
  }
});
