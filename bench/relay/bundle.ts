import { basename, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const stubs = {
  /** A queue that has taken each event at once. */
  events: [
    /tracking\/tracker\.ts$/,
    'export const createTracker = () => ({ open: async () => true, close: async () => {}, drain: async () => {} });',
  ],
  /** A meter that reads nothing. */
  meter: [
    /meter\/meter\.ts$/,
    'export const emptyReading = async () => ({}); export const createMeter = () => ({ write: () => {}, end: emptyReading });',
  ],
} as const;
type Part = keyof typeof stubs;

/** The gateway without some of its parts, which says what they cost. */
const withoutParts = (parts: readonly Part[]): Plugin => ({
  name: 'without-parts',
  setup: ({ onLoad }) => {
    for (const part of parts) onLoad({ filter: stubs[part][0] }, () => ({ contents: stubs[part][1] }));
  },
});

/**
 * A contender of our own as one file, as the container has it (`npm run build:container`): stripping types at the start takes memory
 * that production does not. A process holds its source: without comments and indentation that is a fifth less, and one byte a
 * character, where a single comment beyond ASCII makes it two. Lines stay short, since an uncaught error prints one.
 *
 * @param options `without`: parts of the gateway that are left out
 */
export const bundled = async (
  file: string,
  workDir: string,
  { without = [], ...options }: BuildOptions & { readonly without?: readonly Part[] } = {},
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
    plugins: [withoutParts(without)],
    ...options,
  });
  return outfile;
};
