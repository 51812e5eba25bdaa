import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { z } from 'zod';
import { ignoring } from '../lambda/domain/errors.ts';
import { CommandError, flag, runCommand } from './command.ts';

const USAGE = `npm run rotate-secret -- fingerprint --secret ID [--dry-run]
npm run rotate-secret -- stripe-key --secret ID [--dry-run] < FILE
npm run rotate-secret -- stripe-webhook --secret ID [--finish] [--dry-run] < FILE
npm run rotate-secret -- undo --secret ID [--dry-run]

Gives a secret a new value; the one before is kept, and "undo" brings it back. Values are never shown, and never taken from the
command line, where others could read them.

  fingerprint     a new random key. From then on every provider credential has another fingerprint: spend by provider key begins anew.
                  Gateway processes take it up as they are replaced, which takes some hours
  stripe-key      the API key that stands on standard input
  stripe-webhook  the signing secret on standard input, in addition to the one in force: both are accepted. With --finish, once Stripe
                  signs with the new one alone, the old one is accepted no longer; nothing is read from standard input
  undo            the value before the last change

  --secret ID     name or ARN: an output of the stacks
Region and credentials come from the AWS environment.`;

const schema = z.object({
  _: z.tuple([
    z.enum(
      ['fingerprint', 'stripe-key', 'stripe-webhook', 'undo'],
      'Begin with fingerprint, stripe-key, stripe-webhook or undo.',
    ),
  ]),
  secret: z.string(),
  finish: flag,
  'dry-run': flag,
});

type Options = z.output<typeof schema>;

/** As long as the one that the stack makes: see lib/stacks/gateway.ts. */
const FINGERPRINT_KEY_BYTES = 48;
/** A file of something else must not become the secret, and a value of one kind must not replace one of another. */
const forms = {
  'stripe-key': /^(sk|rk)_(live|test)_[A-Za-z0-9]{10,}$/,
  'stripe-webhook': /^whsec_[A-Za-z0-9+/=]{10,}$/,
  fingerprint: /^[\w-]{64}$/,
};

const secretsManager = new SecretsManagerClient({});

const readSecret = async (secretId: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<string | undefined> => {
  const command = new GetSecretValueCommand({ SecretId: secretId, VersionStage: stage });
  return (await secretsManager.send(command).catch(ignoring('ResourceNotFoundException')))?.SecretString;
};

const given = async (shape: RegExp, what: string): Promise<string> => {
  const value = (await text(process.stdin)).trim();
  if (!shape.test(value)) throw new CommandError(`What stands on standard input is no ${what}.`);
  return value;
};

/** The new value, and what it means, for people. */
const decide = async (
  { _: [what], secret, finish }: Options,
  current: string,
): Promise<{ readonly value: string; readonly meaning: string }> => {
  if (what === 'undo') {
    const value = await readSecret(secret, 'AWSPREVIOUS');
    if (value === undefined) throw new CommandError('This secret has no value before its present one.');
    return { value, meaning: 'the value before the last change is in force again' };
  }
  const [newest = ''] = current.split(' ');
  // The text that the stack makes for Stripe's secrets has none of these forms.
  const [kind = what === 'fingerprint' ? 'Stripe' : what] =
    Object.entries(forms).find(([, form]) => form.test(newest)) ?? [];
  if (kind !== what) throw new CommandError(`--secret names the secret of ${kind}. Nothing was changed.`);
  if (what === 'fingerprint')
    return {
      value: randomBytes(FINGERPRINT_KEY_BYTES).toString('base64url'),
      meaning: 'provider credentials get other fingerprints, as gateway processes are replaced',
    };
  if (what === 'stripe-key')
    return { value: await given(forms[what], 'API key of Stripe'), meaning: 'taken up within five minutes' };
  if (finish) return { value: newest, meaning: 'one signing secret is accepted: the newest' };
  const added = await given(forms[what], 'signing secret of a Stripe webhook');
  const before = forms[what].test(newest) && newest !== added ? [newest] : [];
  return { value: [added, ...before].join(' '), meaning: `${before.length + 1} signing secrets are accepted` };
};

const rotate = async (options: Options): Promise<void> => {
  const { secret, 'dry-run': dryRun } = options;
  const current = await readSecret(secret, 'AWSCURRENT');
  if (current === undefined) throw new CommandError('There is no such secret.');
  const { value, meaning } = await decide(options, current);
  if (value === current) {
    console.log('The secret has this value already.');
    return;
  }
  if (!dryRun) await secretsManager.send(new PutSecretValueCommand({ SecretId: secret, SecretString: value }));
  console.log(`${dryRun ? 'Would be changed' : 'Changed'}: ${meaning}.`);
};

await runCommand({ usage: USAGE, schema }, rotate);
