import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** Trees whose folders are rooms, with how many folders of a path name one. A file beside the folders is a room of its own. */
const trees = { lambda: 3, lib: 2, local: 2, ops: 2, 'web/src': 3 };

const { imports: aliases }: { imports: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Every import between two rooms of a tree, those of types included: `from` and `to` are rooms, `of` is the line of the failure. */
const arrowsOf = (tree: string, depth: number) => {
  const roomOf = (path: string) => path.split('/').slice(0, depth).join('/');
  return globSync(`${tree}/**/*.{ts,tsx}`).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\(?)\s*'([.#][^']+)'/g)]
      .map(([, path = '']) => join(aliases[path] ?? join(dirname(file), path)))
      .map((path) => ({ from: roomOf(file), to: roomOf(path), of: `${file} -> ${path}` }))
      .filter(({ from, to }) => from !== to && to.startsWith(`${tree}/`)),
  );
};

type Arrow = ReturnType<typeof arrowsOf>[number];

/** The arrows that lie on a cycle. */
const cyclesIn = (arrows: readonly Arrow[]): readonly Arrow[] => {
  const next = Map.groupBy(arrows, ({ from }) => from);
  const reached = (room: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const { to } of next.get(room) ?? []) if (!seen.has(to)) reached(to, seen.add(to));
    return seen;
  };
  return arrows.filter(({ from, to }) => reached(to).has(from));
};

describe('the rooms of', () => {
  it.each(Object.entries(trees))('%s have no import that leads back', (tree, depth) => {
    const arrows = arrowsOf(tree, depth);
    expect(arrows.length).toBeGreaterThan(10);
    expect(cyclesIn(arrows).map(({ of }) => of)).toEqual([]);
  });

  it('any tree are listed with the imports that lead back', () => {
    const arrow = (from: string, to: string) => ({ from, to, of: `${from}${to}` });
    const arrows = [
      arrow('a', 'b'),
      arrow('b', 'c'),
      arrow('c', 'b'),
      arrow('c', 'd'),
      arrow('d', 'e'),
      arrow('e', 'd'),
    ];
    expect(cyclesIn(arrows).map(({ of }) => of)).toEqual(['bc', 'cb', 'de', 'ed']);
  });
});
