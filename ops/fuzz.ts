import { parseArgs } from 'node:util';
import { fuzz } from './meter/fuzz.ts';
import { readRecordings } from './meter/recording.ts';
import { seedRecordings } from './meter/seed-recordings.ts';

const USAGE = `npm run fuzz -- [--bodies N] [--seed N] [FILE…]

Sends damaged answers (cut short, spliced, with bytes and numbers changed) through meter and pricing, and stops at the first
that throws, or whose price breaks a rule. FILEs are recordings as for npm run meter; without any, a few made by hand.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bodies: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  },
});

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}

const none = {
  provider: undefined,
  path: undefined,
  method: undefined,
  status: undefined,
  contentType: undefined,
  model: undefined,
};
const recordings = positionals.length > 0 ? positionals.flatMap((file) => readRecordings(file, none)) : seedRecordings;
const started = performance.now();
const counts = await fuzz(recordings, Number(values.bodies), Number(values.seed));
console.log(
  JSON.stringify({
    bodies: Number(values.bodies),
    seed: Number(values.seed),
    seconds: Math.round((performance.now() - started) / 1000),
    byProvenance: counts,
  }),
);
