import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { CommandError } from '../command.ts';

/** One recorded response with what is known of its request: a line of a JSON-lines file. */
const recordingSchema = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  provider: z.string(),
  method: z.string().default('POST'),
  path: z.string(),
  /** The request's body. */
  req: z.unknown().optional(),
  status: z.number().int().default(200),
  /** Content type of the response. */
  ctype: z.string().nullish(),
  encoding: z.string().nullish(),
  body: z.string().nullish(),
  body_b64: z.string().nullish(),
  endpoint: z.string().nullish(),
  /** ISO 8601: when the request was made, and so the day of its prices. */
  startedAt: z.iso.datetime().optional(),
  expected: z
    .object({ norm: z.record(z.string(), z.unknown()).nullish() })
    .loose()
    .nullish(),
});

export type Recording = Omit<z.infer<typeof recordingSchema>, 'body' | 'body_b64'> & {
  readonly id: string;
  readonly bytes: Buffer;
};

/** Facts that a raw body does not have: from the command line. */
type RawBodyOptions = { readonly [Name in 'provider' | 'path' | 'method' | 'status' | 'ctype' | 'req']?: unknown };

const parseLine = (line: string, where: string): Recording => {
  const { body, body_b64, ...rest } = recordingSchema.parse(JSON.parse(line));
  const bytes = typeof body_b64 === 'string' ? Buffer.from(body_b64, 'base64') : Buffer.from(body ?? '', 'utf8');
  return { ...rest, id: String(rest.id ?? where), bytes };
};

/**
 * The recordings of a file: JSON lines that name provider and path, or one raw body, for which the options must name them.
 *
 * @throws CommandError with what to do, where a file is neither
 */
export const readRecordings = (file: string, options: RawBodyOptions = {}): Recording[] => {
  const bytes = readFileSync(file);
  if (options.provider === undefined || options.path === undefined) {
    const lines = bytes.toString('utf8').split('\n');
    try {
      const recordings = lines.flatMap((line, index) =>
        line.trim() === '' ? [] : [parseLine(line, `${file}:${index + 1}`)],
      );
      if (recordings.length > 0) return recordings;
    } catch {
      // Said below.
    }
    throw new CommandError(
      `${file} is no file of recordings (JSON lines with provider, path and body). For a raw response body give --provider and --path.`,
    );
  }
  if (!providerLabels.some((label) => label === options.provider))
    throw new CommandError(`--provider is one of ${providerLabels.join(', ')}`);
  return [{ ...recordingSchema.parse(options), id: file, bytes }];
};

/** One small response of each kind, written by hand after the providers' documentation. */
export const seedRecordings = readRecordings(join(import.meta.dirname, 'seed-recordings.jsonl'));
