import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { z } from 'zod';
import { type BundledFunction, bundleFunctions } from '../lib/bundled-functions.ts';
import { BUNDLING } from '../lib/constructs/handler-function.ts';
import { CommandError, runCommand } from './command.ts';

const USAGE = `npm run stack-trace -- FUNCTION < TRACE

Says where in the sources the places of a stack trace are. Functions are deployed without source maps, which would make each start
slower: this makes the same bundle again, with one. Check out what is deployed first.

  FUNCTION   stack and function, such as usage/Recorder or dashboard-api/SpendHandler
  TRACE      any text, as the log has it, on standard input`;

const ROOT = join(import.meta.dirname, '..');
const PLACE = /[^\s("]*\bindex\.js:(\d+):(\d+)/g;

const schema = z.object({
  _: z.tuple([z.string().regex(/^[\w-]+\/\w+(\/\w+)*$/, 'name the function, such as usage/Recorder')]),
});

/** The map of a bundle. @throws CommandError where this checkout does not make the same bundle without CDK around it */
const sourceMapOf = async ({ entry, file }: BundledFunction): Promise<SourceMap> => {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: BUNDLING.format,
    minify: BUNDLING.minify,
    mainFields: [...BUNDLING.mainFields],
    sourcemap: 'external',
    write: false,
  });
  const [map, bundle] = ['.map', '.js'].map((end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '');
  if (bundle !== readFileSync(file, 'utf8'))
    throw new CommandError('The bundle cannot be made the same a second time.');
  return new SourceMap(JSON.parse(map ?? ''));
};

await runCommand({ usage: USAGE, schema, options: {} }, async ({ _: [name] }) => {
  const folder = mkdtempSync(join(tmpdir(), 'stack-trace-'));
  try {
    const bundles = bundleFunctions(folder, name.split('/')[0]);
    const bundled = bundles.find((each) => each.name === name);
    if (!bundled)
      throw new CommandError(`There is no function ${name}. There are: ${bundles.map((each) => each.name).join(', ')}`);
    const map = await sourceMapOf(bundled);
    const trace = await text(process.stdin);
    console.log(
      trace.replaceAll(PLACE, (place, line: string, column: string) => {
        const origin = map.findOrigin(Number(line), Number(column));
        return 'fileName' in origin
          ? `${origin.fileName.replace(/^.*?(?=(lambda|node_modules)\/)/, '')}:${origin.lineNumber}:${origin.columnNumber}`
          : place;
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
