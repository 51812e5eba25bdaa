import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';

/** A Jest transformer: one TypeScript file to ESM with an inline source map. */
export default {
  getCacheKey: (source, path) => createHash('sha256').update(version).update(path).update(source).digest('hex'),
  process: (source, path) =>
    transformSync(source, { loader: 'ts', format: 'esm', target: 'node22', sourcemap: 'inline', sourcefile: path }),
};
