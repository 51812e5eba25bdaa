import { describe, expect, it } from '@jest/globals';
import type { GatewayRequest } from '../../../lambda/gateway/protocol/client.ts';
import { locateHandshakeKey } from '../../../lambda/gateway/websocket/proxy-websocket.ts';
import { KEYS } from '../gateway-host.ts';

const KEY = KEYS.active;

const locate = (target: string, ...headers: string[]) => {
  const received: GatewayRequest = { method: 'GET', host: 'openai.gateway.test', target, headers, body: null };
  const { serviceKey, credential, request } = locateHandshakeKey(received);
  return { serviceKey, credential, target: request.target, headers: request.headers };
};

describe('the keys of a handshake', () => {
  it.each([
    ['/v1/realtime?model=m', `realtime, openai-insecure-api-key.${KEY}.sk-a.b, openai-beta.x`, 'sk-a.b'],
    ['/v1/realtime', `realtime,openai-insecure-api-key.${KEY}:sk-a`, 'sk-a'],
  ])('are in a subprotocol: %s %s', (target, protocols, credential) => {
    expect(locate(target, 'Sec-WebSocket-Protocol', protocols)).toEqual({
      serviceKey: KEY,
      credential,
      target,
      headers: ['Sec-WebSocket-Protocol', protocols.replace(/svc_[^.:]*[.:]/, '')],
    });
  });

  it.each([
    [`/ws/x?key=${KEY}:AIza-a&alt=b`, '/ws/x?key=AIza-a&alt=b', 'AIza-a'],
    [`/ws/x?alt=b&key=${KEY}%3AAIza`, '/ws/x?alt=b&key=AIza', 'AIza'],
    [`/ws/x?access_token=${KEY}:auth_tokens/a`, '/ws/x?access_token=auth_tokens/a', 'auth_tokens/a'],
    [`/${KEY}/ws/x?key=AIza`, '/ws/x?key=AIza', 'AIza'],
  ])('are in the query string: %s', (target, rest, credential) => {
    expect(locate(target)).toEqual({ serviceKey: KEY, credential, target: rest, headers: [] });
  });

  it('count in headers first; a malformed service key behind a good one stays', () => {
    expect(locate(`/ws?key=svc_a:b`, 'X-Service-Key', KEY)).toMatchObject({
      serviceKey: KEY,
      credential: 'svc_a:b',
      target: '/ws?key=svc_a:b',
    });
    expect(locate('/ws?key=svc_a:b')).toMatchObject({ serviceKey: 'svc_a', credential: 'b', target: '/ws?key=b' });
  });

  it('are nowhere else', () => {
    for (const target of [`/ws?monkey=${KEY}:a`, `/ws/key=${KEY}:a`, '/ws?key='])
      expect(locate(target)).toMatchObject({ serviceKey: undefined, credential: undefined, target });
    expect(locate('/ws', 'Sec-WebSocket-Protocol', 'realtime')).toMatchObject({ credential: undefined });
  });
});
