import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { document } from '../http/described-api.ts';

const SOURCES = join(import.meta.dirname, '../../web/src');
const textOf = (file: string) => readFileSync(join(SOURCES, file), 'utf8').replaceAll('"', "'");

/** Forms that another file opens, for those who may send them. */
const openedBy: Readonly<Record<string, string>> = {
  'keys/key-dialogs.tsx': 'keys/keys.tsx',
  'limits/channel-fields.tsx': 'forms/collections.ts',
  'members/invite.tsx': 'members/members.tsx',
  'overview/declare-dimensions.tsx': 'overview/controls.tsx',
  'reconciliation/import-bill.tsx': 'reconciliation/reconciliation.tsx',
};

/** Pages that make something, and the permission for it. */
const makers = { '/limits/new': 'rules:write', '/reports/new': 'reports:write' };

/** What each file sends and where it leads, with the permission that this takes. */
const actions = globSync('**/*.tsx', { cwd: SOURCES }).flatMap((file) => {
  const text = textOf(file);
  const sent = [...text.matchAll(/useMutation\(\s*'(\w+)',\s*'([^']+)'/g)].map(([, method, path]) => ({
    does: `${method} ${path}`,
    needs: document.paths[`${path}`][`${method}`]['x-permission'] as string | undefined,
  }));
  const linked = Object.entries(makers).flatMap(([page, needs]) =>
    text.includes(`to='${page}'`) ? [{ does: `leads to ${page}`, needs }] : [],
  );
  return [...sent, ...linked].map((action) => ({ file, ...action }));
});

it('is offered only to those who may do it: a file that sends a change asks for its permission', () => {
  // Everybody has `self:write`; who reads requests opens the page that prices them again.
  const free = [undefined, 'self:write', 'requests:read'];
  expect(actions.length).toBeGreaterThan(60);
  const asks = (file: string, needs = '') => textOf(openedBy[file] ?? file).includes(`'${needs}'`);
  expect(actions.filter(({ file, needs }) => !free.includes(needs) && !asks(file, needs))).toEqual([]);
});
