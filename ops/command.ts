import { parseArgs } from 'node:util';
import { z } from 'zod';

const notWhole = { error: 'takes a whole number' };
/** An option's value, which is text. */
export const wholeNumber = z.coerce.number(notWhole).int(notWhole);
/** An option without a value. */
export const flag = z.boolean().default(false);
export const day = z.iso.date({ error: 'takes a day, such as 2026-11-20' });
export const time = z.coerce.date({ error: 'takes an ISO 8601 time' });

/** An option that an environment variable gives where it is missing. */
const orFrom = (variable: string, type: z.ZodType<string, string>) => type.prefault(process.env[variable] ?? '');

export const tableName = orFrom('TABLE_NAME', z.string().min(1, '--table or TABLE_NAME is needed'));
export const queueUrl = orFrom('USAGE_QUEUE_URL', z.url({ error: '--queue or USAGE_QUEUE_URL is needed' }));
export const userPoolId = orFrom('USER_POOL_ID', z.string().min(1, '--user-pool or USER_POOL_ID is needed'));

interface Command<S extends z.ZodObject> {
  readonly usage: string;
  /** The options by name: flags, texts, and lists for those that may be given more than once. Words without a name are `_`, an array. */
  readonly schema: S;
}

/** The command cannot do what it was asked. The message says why, for people. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const explain = (usage: string, problem: string): never => {
  console.error(`${problem}\n\n${usage}`);
  process.exit(2);
};

/** Options are called by their names; what stands without one has none. */
const problemOf = ({ path, code, message }: z.core.$ZodIssue): string => {
  if (path[0] !== '_') {
    return path.length === 0 || message.startsWith('--') ? message : `--${path.map(String).join('.')}: ${message}`;
  }
  if (path.length > 1) return message;
  return code === 'too_small' ? 'Something is missing.' : code === 'too_big' ? 'That is one word too many.' : message;
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
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return explain(usage, (error as Error).message);
  }
};

/**
 * Runs a command of operations: its options parsed, its usage printed on request or when they are wrong (exit code 2), its
 * error as one line (exit code 1). Every command takes --dry-run and --help.
 */
export const runCommand = async <S extends z.ZodObject>(
  command: Command<S>,
  main: (options: z.output<S>) => Promise<void>,
): Promise<void> => {
  // It would do for real what was only to be shown.
  if (process.env['npm_config_dry_run'] === 'true')
    return explain(command.usage, 'npm took --dry-run for its own: write -- before it, npm run … -- --dry-run');
  const { values, positionals } = readArguments(command);
  if (values['help']) {
    console.log(command.usage);
    return;
  }
  const parsed = command.schema.safeParse({ ...values, _: positionals });
  if (!parsed.success) {
    const [issue] = parsed.error.issues as [z.core.$ZodIssue];
    return explain(command.usage, problemOf(issue));
  }
  try {
    await main(parsed.data);
  } catch (error) {
    console.error(
      error instanceof CommandError ? error.message : `${(error as Error).name}: ${(error as Error).message}`,
    );
    process.exitCode = 1;
  }
};
