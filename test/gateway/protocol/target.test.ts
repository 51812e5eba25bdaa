import { expect, it } from '@jest/globals';
import { type Provider, providerByLabel } from '../../../lambda/domain/providers.ts';
import { pathOf, upstreamTarget } from '../../../lambda/gateway/protocol/target.ts';

const provider = (label: string): Provider => providerByLabel(label) as Provider;

it.each([
  ['/v1/a?b=1', '/v1/a?b=1', '/api/v1/a?b=1'],
  ['*', '/*', '/api/*'],
  ['', '/', '/api/'],
  ['?a', '/?a', '/api/?a'],
  ['http://evil.test/api/x', '/api/x', '/api/x'],
  ['HTTPS://evil.test:8080?a', '/?a', '/api/?a'],
  ['h2+x.y-z://evil.test', '/', '/api/'],
  ['://evil.test/x', '/://evil.test/x', '/api/://evil.test/x'],
  ['/http://evil.test/x', '/http://evil.test/x', '/api/http://evil.test/x'],
  ['/api', '/api', '/api'],
  ['/api?x', '/api?x', '/api?x'],
  ['/apis', '/apis', '/api/apis'],
])('%s becomes %s, behind a prefix %s', (target, path, prefixed) => {
  expect(upstreamTarget(target, provider('openai'))).toBe(path);
  expect(upstreamTarget(target, provider('openrouter'))).toBe(prefixed);
});

it.each([
  ['/a', '/a'],
  ['/a?b#c', '/a'],
  ['/a#b?c', '/a'],
  ['?a', ''],
])('the path of %s is %s', (target, path) => {
  expect(pathOf(target)).toBe(path);
});
