import { parseArgs } from 'node:util';
import { z } from 'zod';
import { DomainError, ValidationError } from '../lambda/domain/errors.ts';
import { messageFor } from '../lambda/domain/violations.ts';

/** An option's value, which is text. */
export const wholeNumber = z.coerce.number().int();
/** An option without a value. */
export const flag = z.boolean().default(false);
export const day = z.iso.date({ error: 'takes a day, such as 2026-11-20' });
export const time = z.coerce.date({ error: 'takes an ISO 8601 time' });

/** Hosts of a gateway: an address with `{label}` in the place of the provider. */
export const gatewayUrl = z
  .url({ error: 'takes a URL' })
  .includes('{label}', { error: 'must have {label} in it' })
  .transform((url) => (label: string) => url.replaceAll('{label}', label).replace(/\/$/, ''));

/** Refuses a range of days that ends before it begins. */
export const areInOrder = ({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) =>
  from === undefined || to === undefined || from <= to;
export const notInOrder = { path: ['to'], error: 'is before --from' };

/** An option that an environment variable gives where it is missing. */
const orFrom = (variable: string, type: z.ZodType<string, string>) => type.prefault(() => process.env[variable] ?? '');

export const tableName = orFrom('TABLE_NAME', z.string().min(1, '--table or TABLE_NAME is needed'));
export const queueUrl = orFrom(
  'USAGE_QUEUE_URL',
  z.url({
    error: ({ input }) => `--queue or USAGE_QUEUE_URL ${input === '' ? 'is needed' : 'must be a URL'}`,
  }),
);
export const userPoolId = orFrom('USER_POOL_ID', z.string().min(1, '--user-pool or USER_POOL_ID is needed'));

interface Command<S extends z.ZodObject> {
  readonly usage: string;
  /**
   * The options by name: flags, texts, and lists for those that may be given more than once. Words without a name are `_`, an array;
   * without it none is taken.
   */
  readonly schema: S;
}

/** The command cannot do what it was asked. The message says why, for people. */
export class CommandError extends DomainError {}

const explain = (usage: string, problem: string): never => {
  console.error(`${problem}\n\n${usage}`);
  process.exit(2);
};

/** Options are called by their names; an argument has none. */
const problemOf = ({ path, code, message }: z.core.$ZodIssue): string => {
  if (path[0] !== '_') {
    return path.length === 0 || message.startsWith('--') ? message : `--${String(path[0])}: ${message}`;
  }
  if (path.length > 1) return message;
  if (code === 'too_small') return 'An argument is missing.';
  return code === 'too_big' ? 'There are too many arguments.' : message;
};

/** How an option is written, by what its value is in the end. */
const optionOf = (type: z.core.$ZodType) => {
  let { def }: { def: z.core.$ZodTypeDef & { innerType?: z.core.$ZodType } } = type._zod;
  while (def.innerType) def = def.innerType._zod.def;
  return { type: def.type === 'boolean' ? 'boolean' : 'string', multiple: def.type === 'array' } as const;
};

const readArguments = ({ usage, schema }: Command<z.ZodObject>) => {
  const { _, ...named } = schema.shape;
  try {
    return parseArgs({
      options: {
        ...Object.fromEntries(Object.entries(named).map(([name, type]) => [name, optionOf(type)])),
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: _ !== undefined,
    });
  } catch (error) {
    // Node.js adds advice that nobody needs here.
    return explain(usage, (error as Error).message.split(/\.\s/, 1).join(''));
  }
};

/** The options of a command. Its usage is printed on request (exit code 0), or where they are wrong (2). */
export const readOptions = <S extends z.ZodObject>(command: Command<S>): z.output<S> => {
  // Without --dry-run it would do for real what was only to be shown, without --mock it would call the real providers.
  const taken = Object.entries(command.schema.shape).find(
    ([name, type]) =>
      optionOf(type).type === 'boolean' && process.env[`npm_config_${name.replaceAll('-', '_')}`] === 'true',
  );
  if (taken) return explain(command.usage, `npm took --${taken[0]} for its own: write -- before it, as below`);
  const { values, positionals } = readArguments(command);
  if (values['help']) {
    console.log(command.usage);
    process.exit(0);
  }
  // An unset variable of the shell would be the number 0, or the checkout as a folder.
  const empty = Object.entries({ ...values, _: positionals }).find(([, value]) =>
    [value].flat().some((text) => /^\s*$/.test(`${text}`)),
  );
  if (empty) return explain(command.usage, empty[0] === '_' ? 'An argument is empty.' : `--${empty[0]}: takes a value`);
  const parsed = command.schema.safeParse({ ...values, _: positionals }, { error: messageFor });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues as [z.core.$ZodIssue];
  return explain(command.usage, problemOf(issue));
};

/** Errors of the SDK, and of services where a session is over. */
const NO_CREDENTIALS = /^(CredentialsProvider|ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/;

/** Errors of Node.js and AWS whose own words do not say what to do. */
const inWords = ({ name, message, code, path, hostname }: NodeJS.ErrnoException & { hostname?: string }): string => {
  if (code === 'ENOENT' && path !== undefined) return `There is no file ${path}.`;
  if (code === 'EACCES' && path !== undefined) return `${path} may not be read by this user.`;
  if (code === 'EISDIR') return 'A file is needed where a folder was named.';
  // Each start of the local stack has other ports.
  if (code === 'ECONNREFUSED')
    return `${message}. Is it the local stack's? Start that, and read its commands.env again.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The host ${hostname} cannot be found: check the region, its endpoint, and the network of this machine.`;
  if (name === 'QueueDoesNotExist') return 'There is no queue of this name in this account and region.';
  if (message === 'Region is missing') return 'There is no AWS region: set AWS_REGION.';
  if (NO_CREDENTIALS.test(name))
    return 'There are no AWS credentials that are in force: log in (aws login), or set AWS_PROFILE.';
  if (message === 'Requested resource not found') return 'There is no table of this name in this account and region.';
  return `${name}: ${message}`;
};

/** Runs a command of operations with its options. Its error is one line (exit code 1), or one for each fault of what was given. */
export const runCommand = async <S extends z.ZodObject>(
  command: Command<S>,
  main: (options: z.output<S>) => Promise<void>,
): Promise<void> => {
  const options = readOptions(command);
  try {
    await main(options);
  } catch (error) {
    if (error instanceof ValidationError)
      for (const { path, message } of error.violations) console.error(`${path}: ${message}`);
    else console.error(error instanceof DomainError ? error.message : inWords(error as Error));
    process.exitCode = 1;
  }
};
