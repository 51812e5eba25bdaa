import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { providerOverrides } from '../../lambda/domain/price/price-book.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Every function is made from one of these files. */
const ENTRIES = ['lambda/**/handler.ts', 'lambda/dashboard/functions/*.ts'];

/** The module of a bundle that exports `handler`. */
export const BUNDLE_FILE = 'index.js';

/**
 * The SDK imports these when it first needs them, and no function ever does: on Lambda credentials stand in the environment, which is
 * the first place that is looked at. Left in, they bring clients of their own (STS, SSO) and keep whole what all clients share: 150 kB of
 * each bundle, and a quarter of the time most take to load.
 */
const NEVER_IMPORTED = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/credential-provider-imds',
];

/** The client of S3 imports this at once and the others when they first need it: see the file that takes its place. */
const REPLACED = { '@smithy/core/event-streams': './lib/constructs/no-event-streams.ts' };

/**
 * Modules in files of their own next to a bundle, which loads them where it needs them, by their names in the `imports` of package.json:
 * the rates of all models for accounts with reserved budgets, the client of S3 for days that have left the table, that of SES for mail,
 * common passwords for a new password, the SDK of MCP for a message of an agent, and what prices requests again for savings. Each would make a third to a half of the bundle.
 */
const LAZY_ENTRIES: Readonly<Record<string, string>> = {
  '#reserve': 'lambda/gateway/relay/reserve.ts',
  '#object-store': 'lambda/integrations/object-store.ts',
  '#mail-sender': 'lambda/integrations/mail-sender.ts',
  '#mcp-sdk': 'lambda/dashboard/mcp/sdk.ts',
  '#savings': 'lambda/data/reports/savings.ts',
  '#password-guesser': 'lambda/domain/accounts/password-guesser.ts',
};

/**
 * The price lists in the code, for tables that have no newer. The package that they come from has a megabyte of other providers' models,
 * descriptions and code; JSON.parse reads a text faster than V8 compiles an object.
 */
const PRICE_LISTS = '#bundled-lists';

/** The description of the dashboard API, which one of its operations responds with. */
const DOCUMENT = '#openapi';

/** The overrides of prices, loaded at once and without the texts that only people read: half of them. */
const OVERRIDES = '#price-overrides';
const withoutTexts = (key: string, value: unknown): unknown => (/^(source|why)$/.test(key) ? undefined : value);

const LAZY_NAMES = [...Object.keys(LAZY_ENTRIES), PRICE_LISTS, DOCUMENT, OVERRIDES];
const fileOf = (name: string): string => `${name.slice(1)}.${name === DOCUMENT || name === OVERRIDES ? 'json' : 'js'}`;

const lazyCode = (name: string): Buffer | string => {
  if (name === OVERRIDES) return JSON.stringify(providerOverrides, withoutTexts);
  if (name === DOCUMENT) return readFileSync(join(ROOT, 'docs/openapi.json'));
  return name === PRICE_LISTS
    ? `exports.bundledLists = JSON.parse(${JSON.stringify(JSON.stringify(bundledLists))});`
    : bundleOf(LAZY_ENTRIES[name] as string);
};

/**
 * How every function is bundled, as measured by bench/cold.ts. CommonJS: importing Node's built-in modules from ESM costs each
 * start 15 to 25 ms more. Minified, names and all. No source maps: to load them costs as much again as ESM does, so
 * `npm run stack-trace` makes them afterwards. With our own pinned and tree-shaken copy of the SDK, instead of the runtime's, which
 * changes under us.
 */
const SHARED_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  minify: true,
  mainFields: ['module', 'main'],
  alias: REPLACED,
  external: [...NEVER_IMPORTED, ...LAZY_NAMES],
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * One function's bundle, made by itself.
 *
 * @param entry relative to the root of the repository
 */
export const bundleOptions = (entry: string, folder: string) =>
  ({ ...SHARED_OPTIONS, entryPoints: [entry], outfile: join(folder, BUNDLE_FILE) }) satisfies BuildOptions;

/** The bundles of all functions by entry, made in one run: shared files are read once, which halves the time. */
const allBundles = (): ReadonlyMap<string, Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  try {
    const entries = [...globSync(ENTRIES, { cwd: ROOT }), ...Object.values(LAZY_ENTRIES)];
    buildSync({ ...SHARED_OPTIONS, entryPoints: entries, outbase: ROOT, outdir: folder });
    return new Map(entries.map((entry) => [entry, readFileSync(join(folder, entry.replace(/\.ts$/, '.js')))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

let bundles: ReadonlyMap<string, Buffer> | undefined;

/** @throws Error when no function has this entry */
const bundleOf = (entry: string): Buffer => {
  bundles ??= allBundles();
  const bundle = bundles.get(entry);
  if (!bundle) throw new Error(`${entry} is not bundled: the file of a function is one of ${ENTRIES.join(', ')}`);
  return bundle;
};

/** The code in files of its own, by name, with all that it loads itself. */
const lazyFilesOf = (code: Buffer | string, found = new Map<string, Buffer | string>()) => {
  for (const name of LAZY_NAMES) {
    if (found.has(name) || !code.includes(`("${name}"`)) continue;
    const file = lazyCode(name);
    found.set(name, file);
    lazyFilesOf(file, found);
  }
  return found;
};

/**
 * The code of a function: its entry and all that it imports in one file. Made in this process, where `NodejsFunction` would start
 * three others for each function; and not made where a synthesis leaves bundles out, as tests do.
 *
 * @param entry relative to the root of the repository
 */
export const functionBundle = (entry: string): Code => {
  const local = {
    // CDK tells assets apart by what is in here.
    entry,
    tryBundle: (folder: string): boolean => {
      const bundle = bundleOf(entry);
      writeFileSync(join(folder, BUNDLE_FILE), bundle);
      const lazy = lazyFilesOf(bundle);
      for (const [name, code] of lazy) writeFileSync(join(folder, fileOf(name)), code);
      // Inside this repository, Node would otherwise load it as ESM.
      const imports = Object.fromEntries([...lazy.keys()].map((name) => [name, `./${fileOf(name)}`]));
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs', imports }));
      return true;
    },
  };
  return Code.fromAsset(dirname(join(ROOT, entry)), {
    assetHashType: AssetHashType.OUTPUT,
    // The type requires an image; it is never used, because esbuild is always there.
    bundling: { image: DockerImage.fromRegistry('none'), local },
  });
};
