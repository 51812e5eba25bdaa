import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE_FILE, bundleOptions } from '../../../lib/constructs/function-bundle.ts';
import { currentAssembly } from '../../../local/synth.ts';
import { SEED } from '../../seed.ts';
import { randomFrom } from '../random.ts';
import { closeWorld, openWorld } from './company.ts';
import { attack } from './group.ts';
import { type PlantedFault, plantedFaults } from './planted.ts';

/*
 * `node test/faults/rights/plant.ts [FIRST [LAST]]`: plants one fault after the other in the bundles of the dashboard API, and runs the
 * attack on rights on each until it finds something. Prints a line for each, and how many were found. TEST_SEED and RIGHTS_STEPS say which
 * moves, and how many.
 */

const root = join(import.meta.dirname, '../../..');
const [first = 1, last = plantedFaults.length] = process.argv.slice(2).map(Number);
process.env['RIGHTS_STEPS'] ??= '30';
const folder = mkdtempSync(join(tmpdir(), 'planted-'));
const assembly = join(folder, 'assembly');
cpSync(await currentAssembly(root, () => {}), assembly, { recursive: true });

const entries = globSync('lambda/dashboard/functions/*.ts', { cwd: root });

/** The bundles of the dashboard API by entry, with a fault in one of the sources. */
const bundlesWith = async (fault?: PlantedFault): Promise<ReadonlyMap<string, string>> => {
  const plant = {
    name: 'plant',
    setup: ({ onLoad }: Parameters<NonNullable<Parameters<typeof build>[0]['plugins']>[number]['setup']>[0]) => {
      onLoad({ filter: /\/lambda\/.*\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        return {
          loader: 'ts',
          contents: fault && path === join(root, fault.file) ? text.replace(fault.from, fault.to) : text,
        };
      });
    },
  };
  const bundled = entries.map(async (entry) => {
    const { outputFiles } = await build({ ...bundleOptions(entry, folder), write: false, plugins: [plant] });
    return [entry, outputFiles[0]?.text ?? ''] as const;
  });
  return new Map(await Promise.all(bundled));
};

/** The files of the assembly that the bundles are in. */
const original = await bundlesWith();
const bundles = globSync(`asset.*/${BUNDLE_FILE}`, { cwd: assembly }).map((name) => join(assembly, name));
const fileOf = new Map(
  [...original].flatMap(([entry, code]) =>
    bundles.filter((file) => readFileSync(file, 'utf8') === code).map((file) => [entry, file] as const),
  ),
);
if (fileOf.size < entries.length)
  throw new Error(`Bundles of ${fileOf.size} of ${entries.length} functions are in the assembly.`);

/** What the attack says where it finds a fault. */
const DIFFERENCE = /though it may|got \d{3}|is not in the audit log|and should have/;

/** What the attack finds; undefined for nothing. */
const attackOn = async (): Promise<string | undefined> => {
  const world = await openWorld(assembly);
  try {
    await attack(world, randomFrom(SEED), 'full');
    return undefined;
  } catch (error) {
    return String(error)
      .split('\n')[0]
      ?.replace(/^.*?(?=Step )/, '');
  } finally {
    await closeWorld(world);
  }
};

let found = 0;
try {
  for (const [index, fault] of plantedFaults.entries()) {
    if (index + 1 < first || index + 1 > last) continue;
    const planted = await bundlesWith(fault);
    const changed = [...planted].filter(([entry, code]) => code !== original.get(entry));
    if (changed.length === 0) throw new Error(`${fault.file} has no ${fault.from}`);
    for (const [entry, file] of fileOf) writeFileSync(file, planted.get(entry) ?? '');
    const says = await attackOn();
    const isFound = says !== undefined && DIFFERENCE.test(says);
    found += isFound ? 1 : 0;
    console.log(
      `${index + 1} ${isFound ? 'found' : 'NOT FOUND'}: ${fault.file} ${JSON.stringify(fault.from)}: ${(says ?? 'nothing').slice(0, 200)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${found} of ${last - first + 1} found`);
process.exit(0);
