import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { register } from '../lambda/dashboard/auth/register.ts';
import { openAccounts } from '../lambda/data/accounts/accounts.ts';
import { openUsers } from '../lambda/data/accounts/users.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { newAccountKey } from '../lambda/domain/accounts/issued-secret.ts';
import { cognitoClient, userDirectory } from '../lambda/integrations/user-directory.ts';
import { flag, runCommand, tableName, userPoolId } from './command.ts';

const USAGE = `npm run create-owner -- --email ADDRESS --first-name NAME --last-name NAME [--company NAME] [--table NAME] [--user-pool ID]

Creates an account and its owner, whatever the stage's setting "registration" says: the first one where registration is "invite" or
"closed". Nobody knows the password it sets: the owner asks for a code with "Forgot your password?" and chooses one, which also
verifies the address.

  --table NAME    default: the environment variable TABLE_NAME
  --user-pool ID  default: the environment variable USER_POOL_ID
  --dry-run       says whether the address has a login already
Region and credentials come from the AWS environment.`;

const text = z.string().trim().min(1).max(100);
const schema = z.object({
  email: z.email('must be an e-mail address').max(254).toLowerCase(),
  'first-name': text,
  'last-name': text,
  company: text.optional(),
  table: tableName,
  'user-pool': userPoolId,
  'dry-run': flag,
});

await runCommand({ usage: USAGE, schema }, async ({ email, company, ...values }) => {
  const table = openTable(values.table);
  const directory = userDirectory(cognitoClient(), values['user-pool']);
  if (values['dry-run']) {
    const isTaken = (await directory.findByEmail(email)) !== undefined;
    console.log(isTaken ? `${email} has a login already.` : `${email} would own a new account.`);
    return;
  }
  const create = register({
    registration: 'open',
    directory,
    // The owner signs in later, with a password of their own.
    sessions: {
      logIn: async () => ({ userId: '', token: '', refreshToken: '', expiresIn: 1, authTime: 0 }),
    },
    accounts: openAccounts(table),
    users: openUsers(table),
    newId: uuidv7,
    newAccountKey: () => newAccountKey(randomBytes),
    sendCode: async () => {},
    now: () => new Date(),
    logger: console,
  });
  const body = {
    email,
    password: randomBytes(32).toString('base64url'),
    firstName: values['first-name'],
    lastName: values['last-name'],
    ...(company !== undefined && { companyName: company }),
  };
  await create({
    body,
    params: undefined,
    query: undefined,
    caller: undefined,
    authorization: undefined,
    requestId: '',
  });
  console.log(
    `${email} owns a new account. "Forgot your password?" on the sign-in page sends a code to choose a password.`,
  );
});
