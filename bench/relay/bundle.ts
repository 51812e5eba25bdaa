import { basename, join } from 'node:path';
import { build } from 'esbuild';

/**
 * A contender of our own as one file, as the container has it (`npm run build:container`): stripping types at the start takes memory
 * that production does not. A process holds its source: without comments and indentation that is a fifth less, and one byte a
 * character, where a single comment beyond ASCII makes it two. Lines stay short, since an uncaught error prints one.
 */
export const bundled = async (file: string, workDir: string): Promise<string> => {
  const outfile = join(workDir, `${basename(file, '.ts')}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minifyWhitespace: true,
    lineLimit: 200,
    legalComments: 'external',
    logLevel: 'warning',
    // undici is CommonJS and asks for Node's own modules.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outfile;
};
