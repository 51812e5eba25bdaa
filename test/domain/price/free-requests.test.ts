import { expect, it } from '@jest/globals';
import { startsNothing } from '../../../lambda/domain/price/free-requests.ts';
import { modelOfPath } from '../../../lambda/domain/usage/dialect.ts';
import { MAX_PATH_CHARACTERS } from '../../../lambda/domain/usage/limits.ts';

it.each([
  ['/v1/files', true],
  ['/v1/conversations/conv_1/items', true],
  ['/v1/threads/thread_1', true],
  ['/v1beta/files/a%2Fb', true],
  ['/v1/threads/run%73', false],
  ['/v1/chat/completions/%2e', false],
  ['/v1/organizations/../messages', false],
  ['/v1/organizations/%ff/../../messages', false],
  ['/v1/conversations/../responses', false],
  ['/v1/files/../chat/complet%69ons', false],
  [`/v1/files/${'a'.repeat(MAX_PATH_CHARACTERS)}/../../videos`.slice(0, MAX_PATH_CHARACTERS), false],
])('POST %s costs nothing, as its provider reads it: %s', (path, isFree) => {
  expect(startsNothing({ provider: 'openai', method: 'POST', path })).toBe(isFree);
});

it('takes the model of a path from where its dots lead', () => {
  expect(modelOfPath('/v1beta/models/gemini-2.5-flash/../gemini-2.5-pr%6f:generateContent')).toBe('gemini-2.5-pro');
});
