import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { z } from 'zod';
import { stageFunctions } from '../lib/bundled-functions.ts';
import { bundleOptions } from '../lib/constructs/function-bundle.ts';
import { CommandError, runCommand } from './command.ts';

const USAGE = `npm run stack-trace -- FUNCTION < TRACE

Says where in the sources the places of a stack trace are. Functions are deployed without source maps, which would make each start
slower: this makes the same bundle again, with one. Check out what is deployed first.

  FUNCTION   stack and function, such as usage/Recorder or dashboard-api/ReadingHandler
  TRACE      any text, as the log has it, on standard input`;

const ROOT = join(import.meta.dirname, '..');
const PLACE = /[^\s("]*\bindex\.js:(\d+):(\d+)/g;

const schema = z.object({
  _: z.tuple([
    z.string().regex(/^[\w-]+\/\w+(\/\w+)*$/, 'FUNCTION is a stack and a function, such as usage/Recorder.'),
  ]),
});

/** The map of a function's bundle. `entry` is relative to the root of the repository. */
const sourceMapOf = async (entry: string): Promise<SourceMap> => {
  const { outputFiles } = await build({ ...bundleOptions(entry, ROOT), sourcemap: 'external', write: false });
  const map = outputFiles.find(({ path }) => path.endsWith('.map'));
  return new SourceMap(JSON.parse(map?.text ?? ''));
};

await runCommand({ usage: USAGE, schema }, async ({ _: [name] }) => {
  const functions = stageFunctions();
  const { entry } = functions.find((each) => each.name === name) ?? {};
  if (entry === undefined)
    throw new CommandError(`There is no function ${name}. There are: ${functions.map((each) => each.name).join(', ')}`);
  const map = await sourceMapOf(entry);
  const trace = await text(process.stdin);
  console.log(
    trace.replaceAll(PLACE, (place, line: string, column: string) => {
      const found = map.findEntry(Number(line) - 1, Number(column) - 1);
      // For a line that the bundle lacks, it is the last place of all: another version was checked out.
      if (!('originalSource' in found) || found.generatedLine !== Number(line) - 1) return place;
      const file = found.originalSource.replace(/^.*?(?=(lambda|node_modules)\/)/, '');
      return `${file}:${found.originalLine + 1}:${found.originalColumn + 1}`;
    }),
  );
});
