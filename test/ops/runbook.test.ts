import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const runbook = readFileSync('docs/runbook.md', 'utf8');

describe('the runbook', () => {
  it('names commands that there are', () => {
    const named = [...runbook.matchAll(/npm run (?:--silent )?([a-z-]+)/g)].map(([, name = '']) => name);
    expect(new Set(named).size).toBeGreaterThan(6);
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });

  it('links sections that there are', () => {
    const anchors = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const [, anchor] of runbook.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
    for (const [, page = ''] of runbook.matchAll(/\]\(([^#)]+\.md)/g)) expect(existsSync(`docs/${page}`)).toBe(true);
  });
});
