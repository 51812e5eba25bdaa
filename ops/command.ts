import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { z } from 'zod';

const notWhole = { error: 'takes a whole number' };
/** An option's value, which is text. */
export const wholeNumber = z.coerce.number(notWhole).int(notWhole);

interface Command<S extends z.ZodType> {
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** Schema of the options' values by name; values without a name are `_`, an array. */
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

const readArguments = ({ usage, options }: Pick<Command<z.ZodType>, 'usage' | 'options'>) => {
  try {
    return parseArgs({
      options: { ...options, 'dry-run': { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
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
export const runCommand = async <S extends z.ZodType>(
  command: Command<S>,
  main: (options: z.output<S>) => Promise<void>,
): Promise<void> => {
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
