import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { roles } from '../../lambda/domain/accounts/permissions.ts';
import { channelTypes } from '../../lambda/domain/alerts/channels.ts';
import { datasetNames } from '../../lambda/domain/exports/datasets.ts';
import { cloudLabels } from '../../lambda/domain/hosts.ts';
import { ruleTypes } from '../../lambda/domain/limits/rule.ts';
import { termsSchema } from '../../lambda/domain/own-prices/own-price.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { findingKinds } from '../../lambda/domain/savings/finding-kinds.ts';
import { provenances } from '../../lambda/domain/usage/usage.ts';

it('the README counts and lists the providers, in the order of lambda/domain/providers.ts', () => {
  const [line] = /^\w+ providers: .*$/m.exec(readFileSync('README.md', 'utf8')) ?? [];
  // Where there are more: "the twelve" is in docs/clients.md and cdk.json, too.
  const count = { 12: 'Twelve' }[providerLabels.length as number];
  expect({ 'README.md': line }).toEqual({ 'README.md': `${count} providers: ${providerLabels.join(', ')}.` });
});

/** The names in the first column of the table with this head. */
const namesIn = (page: string, head: string): string[] => {
  const [, rows = ''] =
    new RegExp(`^\\| ${head} \\|.*\\n\\|[-| ]+\\n((?:\\|.*\\n)+)`, 'm').exec(readFileSync(page, 'utf8')) ?? [];
  return [...rows.matchAll(/^\| `([\w-]+)`/gm)].map(([, name = '']) => name);
};

it.each([
  ['docs/clients.md', 'label', cloudLabels],
  ['docs/dashboard-api.md', 'type', ruleTypes],
  ['docs/dashboard-api.md', 'role', roles],
  ['docs/integrations.md', 'channel', Object.keys(channelTypes)],
  ['docs/integrations.md', 'dataset', datasetNames],
  ['docs/prices.md', '`kind`', termsSchema.def.options.map(({ shape }) => shape.kind.def.values[0])],
  ['docs/savings.md', 'Finding', findingKinds],
  ['docs/metering.md', 'Provenance', provenances],
] as const)('%s has a row for each %s', (page, head, names) => {
  expect(namesIn(page, head).sort()).toEqual([...names].sort());
});
