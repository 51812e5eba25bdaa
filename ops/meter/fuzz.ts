import assert from 'node:assert/strict';
import type { Provenance } from '../../lambda/domain/usage/usage.ts';
import { closeEventSchema } from '../../lambda/domain/usage/usage-event.ts';
import { randomFrom } from './random.ts';
import type { Recording } from './recording.ts';
import { type Replayed, replay } from './replay.ts';

type Random = () => number;

/** Bodies longer than this are cut to it first: damage is dense, and many bodies are tried. */
const MAX_BODY_BYTES = 16 * 1024;

const beginningOf = ({ bytes }: Recording): Buffer => bytes.subarray(0, MAX_BODY_BYTES);

const PRICED_AT = '2026-11-20T02:00:00.000Z';

const lies = [
  '-1',
  '1e308',
  '-0',
  '0.5',
  'null',
  '"7"',
  '""',
  '[]',
  '{}',
  'true',
  '99999999999999999999',
  '{"a":{"b":[[[]]]}}',
  '1e-7',
  '1e999',
  '"Infinity"',
  `"${'x'.repeat(300)}"`,
];

const withLies = (json: string, values: RegExp, random: Random): string =>
  json.replace(values, (value) => (random() < 0.3 ? pick(lies, random) : value));

const indexIn = (bytes: Buffer, random: Random): number => Math.floor(random() * (bytes.length + 1));

/** Ways to damage a body. */
const damages: readonly ((body: Buffer, other: Buffer, random: Random) => Buffer)[] = [
  // Cut short, at either end.
  (body, _, random) => body.subarray(0, indexIn(body, random)),
  (body, _, random) => body.subarray(indexIn(body, random)),
  // Spliced with another response.
  (body, other, random) =>
    Buffer.concat([body.subarray(0, indexIn(body, random)), other.subarray(indexIn(other, random))]),
  (body, other) => Buffer.concat([body, other]),
  // A stretch missing, or twice there.
  (body, _, random) => Buffer.concat([body.subarray(0, indexIn(body, random)), body.subarray(indexIn(body, random))]),
  // Single bytes changed.
  (body, _, random) => {
    const changed = Buffer.from(body);
    for (let i = 0; i < 8 && changed.length > 0; i++)
      changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
    return changed;
  },
  // Numbers that lie.
  (body, _, random) => Buffer.from(withLies(body.toString('latin1'), /(?<=:\s?)\d+(\.\d+)?/g, random), 'latin1'),
  // Noise.
  (_, __, random) => Buffer.from(Array.from({ length: Math.floor(random() * 512) }, () => Math.floor(random() * 256))),
  // Nested past any sense.
  (body, _, random) => Buffer.concat([Buffer.from('[{"usage":'.repeat(Math.floor(random() * 300))), body]),
];

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T;

/** @throws AssertionError where a price breaks the rules of PricedUsage, ZodError where the recorder would refuse the reading */
const check = ({ reading, priced: { costNanoUsd, provenance, usage } }: Replayed): void => {
  closeEventSchema.shape.reading.parse(JSON.parse(JSON.stringify(reading)));
  assert.equal(costNanoUsd === null, provenance === 'unknown');
  if (costNanoUsd !== null) assert.ok(Number.isSafeInteger(costNanoUsd) && costNanoUsd >= 0);
  if (!usage) return;
  assert.ok(
    Number.isSafeInteger(usage.inputTokens) && usage.inputTokens >= usage.cacheReadTokens + usage.cacheWriteTokens,
  );
  assert.ok(Number.isSafeInteger(usage.outputTokens) && usage.outputTokens >= usage.reasoningTokens);
  assert.ok(usage.cacheReadTokens >= 0 && usage.cacheWriteTokens >= 0 && usage.reasoningTokens >= 0);
};

/**
 * Damages recordings and their requests in as many ways as asked for, and meters and prices each.
 *
 * @returns how many bodies came to each provenance
 * @throws Error naming recording, damage and seed of the first body that throws, or whose reading or price breaks a rule
 */
export const fuzz = async (
  recordings: readonly Recording[],
  bodies: number,
  seed: number,
): Promise<Partial<Record<Provenance, number>>> => {
  const random = randomFrom(seed);
  const counts: Partial<Record<Provenance, number>> = {};
  for (let i = 0; i < bodies; i++) {
    const recording = pick(recordings, random);
    const damage = Math.floor(random() * damages.length);
    const other = beginningOf(pick(recordings, random));
    const bytes = (damages[damage] as (typeof damages)[number])(beginningOf(recording), other, random);
    try {
      const req = withLies(JSON.stringify(recording.req) ?? '', /(?<=:)(\d+(\.\d+)?|"[^"\\]*")/g, random);
      const replayed = await replay({ ...recording, req, bytes }, seed + i, PRICED_AT);
      check(replayed);
      const { provenance } = replayed.priced;
      counts[provenance] = (counts[provenance] ?? 0) + 1;
    } catch (cause) {
      throw new Error(`body ${i} of seed ${seed}: recording ${recording.id}, damage ${damage}`, { cause });
    }
  }
  return counts;
};
