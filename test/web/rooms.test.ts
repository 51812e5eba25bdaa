import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = 'web/src';

/** The folder of a file; a file beside the folders is a room of its own. */
const roomOf = (file: string): string => file.split('/')[0] ?? file;

/** The rooms that each room imports, also for types only and when needed. */
const arrows = new Map<string, Set<string>>();
for (const file of globSync('**/*.{ts,tsx}', { cwd: root })) {
  const room = roomOf(file);
  const imported = [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\(?)\s*'(\.[^']+)'/g)]
    .map(([, path = '']) => join(dirname(file), path))
    .filter((path) => !path.startsWith('..'));
  arrows.set(room, new Set([...(arrows.get(room) ?? []), ...imported.map(roomOf).filter((other) => other !== room)]));
}

/** The way from a room back to itself; undefined where there is none. */
const wayBack = (start: string): readonly string[] | undefined => {
  const seen = new Set<string>();
  const search = (way: readonly string[]): readonly string[] | undefined => {
    for (const next of arrows.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = search([...way, next]);
      if (found) return found;
    }
    return undefined;
  };
  return search([start]);
};

describe('the rooms of web', () => {
  it.each([...arrows.keys()])('%s leads back to itself over no other', (room) => {
    expect(wayBack(room)).toBeUndefined();
  });
});
