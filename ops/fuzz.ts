import { z } from 'zod';
import { runCommand, wholeNumber } from './command.ts';
import { fuzz } from './meter/fuzz.ts';
import { readRecordings, seedRecordings } from './meter/recording.ts';

const USAGE = `npm run fuzz -- [--bodies N] [--seed N] [FILE…]

Sends damaged responses (cut short, spliced, with bytes and numbers changed) through meter and pricing, and stops at the first
that throws, or whose price breaks a rule. FILEs are recordings as for npm run meter; without any, a few made by hand.`;

const schema = z.object({
  bodies: wholeNumber.min(1).default(100_000),
  seed: wholeNumber.default(1),
  _: z.array(z.string()),
});

await runCommand({ usage: USAGE, schema }, async ({ bodies, seed, _: files }) => {
  const recordings = files.length > 0 ? files.flatMap((file) => readRecordings(file)) : seedRecordings;
  const started = performance.now();
  const byProvenance = await fuzz(recordings, bodies, seed);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ bodies, seed, seconds, byProvenance }));
});
