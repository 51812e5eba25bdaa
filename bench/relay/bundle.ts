import { basename, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** The gateway without its events, which says what they cost: a queue that has taken each at once. */
const withoutEvents: Plugin = {
  name: 'without-events',
  setup: ({ onLoad }) =>
    onLoad({ filter: /tracking\/tracker\.ts$/ }, () => ({
      contents:
        'export const createTracker = () => ({ open: async () => true, close: async () => {}, drain: async () => {} });',
    })),
};

/**
 * A contender of our own as one file, as the container has it (`npm run build:container`): stripping types at the start takes memory
 * that production does not. A process holds its source: without comments and indentation that is a fifth less, and one byte a
 * character, where a single comment beyond ASCII makes it two. Lines stay short, since an uncaught error prints one.
 *
 * @param options `isSilent`: without usage events
 */
export const bundled = async (
  file: string,
  workDir: string,
  { isSilent = false, ...options }: BuildOptions & { readonly isSilent?: boolean } = {},
): Promise<string> => {
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
    plugins: isSilent ? [withoutEvents] : [],
    ...options,
  });
  return outfile;
};
