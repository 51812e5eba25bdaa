import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** A contender of our own as one file, as it is deployed: stripping types at the start takes memory that production does not. */
export const bundled = async (file: string, workDir: string): Promise<string> => {
  const outfile = join(workDir, `${basename(file, '.ts')}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    logLevel: 'warning',
    // undici is CommonJS and asks for Node's own modules.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outfile;
};
