import { describe, expect, it } from '@jest/globals';
import { serviceKeyHash } from '../../../lambda/domain/accounts/account-key.ts';
import { providers } from '../../../lambda/domain/providers.ts';
import type { Admitted } from '../../../lambda/gateway/admission/admit.ts';
import type { GatewayRequest } from '../../../lambda/gateway/protocol/client.ts';
import { requestIdentity } from '../../../lambda/gateway/relay/request-identity.ts';
import { readTag } from '../../../lambda/gateway/relay/tag.ts';
import { ACTIVE } from '../gateway-fakes.ts';

const ID = '01a00000-0000-7000-8000-000000000000';
const admitted: Admitted = { provider: providers[0]!, serviceKey: 'svc_x', credential: 'sk', owner: ACTIVE };
const request = (method: string): GatewayRequest => ({
  method,
  host: 'openai.gateway.test',
  target: '/not-this?secret',
  headers: ['X-Service-Tag', ' nightly '],
  body: null,
});

describe('the members that both events share', () => {
  it('name request, owner and provider', () => {
    expect(requestIdentity(request('GET'), admitted, ID, '/v1/models')).toEqual({
      version: 1,
      requestId: ID,
      accountId: 'account-1',
      keyId: 'key-1',
      provider: 'openai',
      tag: 'nightly',
      tagTruncated: false,
      method: 'GET',
      path: '/v1/models',
      startedAt: new Date(0x01a000000000).toISOString(),
    });
  });

  it('have the hash of a key whose owner is not known', () => {
    expect(requestIdentity(request('GET'), { ...admitted, owner: null }, ID, '/')).toMatchObject({
      accountId: null,
      keyId: null,
      unverifiedKeyHash: serviceKeyHash('svc_x'),
    });
  });

  it('are bounded', () => {
    const { method, path } = requestIdentity(request('M'.repeat(33)), admitted, ID, `/${'p'.repeat(5_000)}`);
    expect(method).toBe('M'.repeat(32));
    expect(path.length).toBeLessThan(5_000);
  });
});

describe('a tag', () => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');

  it.each([
    ['a', 'a', false],
    [' ~ a ', '~ a', false],
    ['a\tb', 'a\tb', false],
    ['x'.repeat(64), 'x'.repeat(64), false],
    ['x'.repeat(65), 'x'.repeat(64), true],
    [bytes('é'.repeat(64)), 'é'.repeat(64), false],
    [bytes('👋'.repeat(65)), '👋'.repeat(64), true],
    ['caf\xe9', 'caf\ufffd', true],
    // The client itself sent U+FFFD.
    [bytes('caf\ufffd'), 'caf\ufffd', false],
    ['', null, false],
    [' \t ', null, false],
  ])('%j is stored as %j', (value, tag, tagTruncated) => {
    expect(readTag(['Other', 'x', 'X-Service-TAG', value])).toEqual({ tag, tagTruncated });
  });

  it('is none without the header', () => {
    expect(readTag([])).toEqual({ tag: null, tagTruncated: false });
  });
});
