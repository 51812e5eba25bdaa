import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { providerLabels } from '../../lambda/domain/providers.ts';

it('the README lists every provider, in the order of lambda/domain/providers.ts', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, labels] = /^\w+ providers: (.*)\.$/m.exec(readme) ?? [];
  expect({ 'README.md': labels }).toEqual({ 'README.md': providerLabels.join(', ') });
});
