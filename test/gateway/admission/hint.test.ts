import { describe, expect, it } from '@jest/globals';
import { refusalHint } from '../../../lambda/gateway/admission/hint.ts';

const hint = (
  code: Parameters<typeof refusalHint>[0],
  { target = '/v1', isHostKnown = true, headers = [] }: { target?: string; isHostKnown?: boolean; headers?: string[] },
) => refusalHint(code, { method: 'GET', host: 'x', target, headers, body: null }, isHostKnown);

describe('the hint of a refusal', () => {
  it.each([
    ['MISSING_AUTH', { target: '/v1?a=1&key=AIza' }, 'x-goog-api-key'],
    ['MISSING_AUTH', { target: '/v1?key=AIza' }, 'x-goog-api-key'],
    ['MISSING_AUTH', { headers: ['Api-Key', 'secret'] }, 'Azure'],
    ['MISSING_SERVICE_KEY', { headers: ['Authorization', 'Bearer svc_AbC1'] }, 'svc_…:<API key>'],
    ['MISSING_SERVICE_KEY', { isHostKnown: false }, 'openrouter'],
  ] as const)('%s %j', (code, request, text) => {
    const given = hint(code, request as Parameters<typeof hint>[1]);
    expect(given).toContain(text);
    expect(given).not.toMatch(/AIza|secret|AbC1/);
  });

  it.each([
    ['MISSING_AUTH', { target: '/v1?monkey=1' }],
    ['MISSING_SERVICE_KEY', { headers: ['Authorization', 'Bearer sk'] }],
    ['UNKNOWN_PROVIDER', { isHostKnown: false }],
  ] as const)('%s %j: none', (code, request) => {
    expect(hint(code, request as Parameters<typeof hint>[1])).toBeUndefined();
  });
});
