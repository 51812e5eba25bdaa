/**
 * Runs the benchmarks, one after the other: `npm run bench` for all, `npm run bench -- relay scale` for some. Options after a name
 * go to it: `npm run bench -- relay --rounds 5`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

/** Names, each with the options that follow it. */
const chosen: string[][] = [];
for (const word of process.argv.slice(2)) {
  if (names.includes(word)) chosen.push([word]);
  else if (word.startsWith('-') || chosen.length > 0) (chosen.at(-1) ?? [])?.push(word);
  else {
    console.error(`There is no benchmark "${word}". There are: ${names.join(', ')}.`);
    process.exit(1);
  }
}

for (const [name, ...options] of chosen.length > 0 ? chosen : names.map((one) => [one])) {
  const file = join(import.meta.dirname, `${name}.ts`);
  if (!existsSync(file)) continue;
  console.log(`\n== ${name}`);
  const { status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--expose-gc', file, ...options],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
}
