import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataStore } from 'cognito-local/lib/services/dataStore/dataStore.js';
import type { DataStoreFactory } from 'cognito-local/lib/services/dataStore/factory.js';
import { writeFileAtomically } from './atomic-file.ts';

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** cognito-local's own convention: members whose names end in `Date` are dates. */
const reviveDate = (key: string, value: unknown): unknown =>
  key.endsWith('Date') && (typeof value === 'string' || typeof value === 'number') ? new Date(value) : value;

const path = (key: string | string[]): string[] => (Array.isArray(key) ? key : [key]);

const parentOf = (root: Tree, keys: readonly string[]): Tree =>
  keys.slice(0, -1).reduce((node, key) => {
    const next = node[key];
    if (isTree(next)) return next;
    const made: Tree = {};
    node[key] = made;
    return made;
  }, root);

/**
 * cognito-local's storage with files written whole or not at all. Its own (StormDB) truncates the file first: a kill at
 * the wrong moment would lose every user.
 */
export const atomicDataStores = (directory: string): DataStoreFactory => ({
  async create(_context, id, defaults): Promise<DataStore> {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, `${id}.json`);
    const root: Tree = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8'), reviveDate) as Tree)
      : structuredClone(defaults as Tree);
    const save = () => writeFileAtomically(file, JSON.stringify(root, null, 2));
    save();

    const get = async (_: unknown, key: string | string[], defaultValue?: unknown): Promise<unknown> =>
      path(key).reduce<unknown>((node, part) => (isTree(node) ? node[part] : undefined), root) ?? defaultValue ?? null;
    return {
      get: get as DataStore['get'],
      getRoot: async <T>() => root as T,
      async set(_, key, value) {
        const keys = path(key);
        parentOf(root, keys)[keys.at(-1) ?? ''] = value;
        save();
      },
      async delete(_, key) {
        const keys = path(key);
        delete parentOf(root, keys)[keys.at(-1) ?? ''];
        save();
      },
    };
  },
});
