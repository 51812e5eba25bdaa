import { describe, expect, it } from '@jest/globals';
import {
  clientResponseHeaders,
  headersByName,
  headerValue,
  upstreamRequestHeaders,
} from '../../../lambda/gateway/protocol/headers.ts';

describe('headerValue', () => {
  it('joins the values of one name, in any case and in their order', () => {
    expect(headerValue(['X-A', '1', 'Y', '2', 'x-a', '3', 'X-A', '4'], 'x-a')).toBe('1, 3, 4');
  });

  it('is undefined for a name that is absent, and no value is a name', () => {
    expect(headerValue([], 'x-a')).toBeUndefined();
    expect(headerValue(['y', 'x-a'], 'x-a')).toBeUndefined();
  });
});

describe('headersByName', () => {
  it('finds the same values as headerValue', () => {
    const byName = headersByName(['X-A', '1', 'Y', '2', 'x-a', '3', 'X-A', '4']);
    expect([...byName]).toEqual([
      ['x-a', '1, 3, 4'],
      ['y', '2'],
    ]);
  });
});

const forwarded = (headers: string[], method = 'GET') => upstreamRequestHeaders(headers, 'api.test', method);

describe('the headers for the provider', () => {
  it('keep names, case, order and duplicates, after the provider’s own host', () => {
    expect(forwarded(['B', '1', 'a', '2', 'Host', 'gateway.test', 'B', '3'])).toEqual({
      headers: ['Host', 'api.test', 'B', '1', 'a', '2', 'B', '3'],
      framing: 'none',
    });
  });

  it.each([
    ...['Connection', 'Keep-Alive', 'Proxy-Connection', 'Proxy-Authenticate', 'Proxy-Authorization', 'TE'],
    ...['Transfer-Encoding', 'Upgrade', 'Host', 'Expect', 'Forwarded', 'Via', 'X-Real-IP', 'Trailer'],
    ...['X-Service-Key', 'X-Service-Tag', 'X-Forwarded-For', 'X-Amzn-Trace-Id', 'CloudFront-Viewer-Country'],
    ...['X-Service-Metadata', 'X-Service-Session', 'Helicone-Property-Team', 'Helicone-Auth', 'cf-aig-metadata'],
    ...['x-portkey-metadata', 'x-portkey-api-key', 'x-litellm-tags'],
  ])('leave out %s', (name) => {
    expect(forwarded([name, 'x', 'Accept', '*/*']).headers).toEqual(['Host', 'api.test', 'Accept', '*/*']);
  });

  it.each([
    'X-Services',
    'My-X-Service-Key',
    'X-Amz-Date',
    'Trailers',
    'X-Helicone-Id',
    'cf-ray',
    'X-Claude-Code-Session-Id',
  ])('leave %s as it is', (name) => {
    expect(forwarded([name, 'x']).headers).toEqual(['Host', 'api.test', name, 'x']);
  });

  it.each(['X-A', 'x-a , close', 'keep-alive,X-A', 'x-b, X-A'])('leave out what Connection names: %s', (names) => {
    expect(forwarded(['X-A', '1', 'Connection', names, 'x-c', '2']).headers).toEqual(['Host', 'api.test', 'x-c', '2']);
  });

  it.each(['close', 'Keep-Alive', 'CLOSE'])('Connection: %s names no other header', (value) => {
    expect(forwarded(['Connection', value, 'Accept', '*/*']).headers).toEqual(['Host', 'api.test', 'Accept', '*/*']);
  });

  it('keep the length of the body, whatever Connection names', () => {
    expect(forwarded(['Content-Length', '5', 'Connection', 'content-length, X-A'], 'POST')).toEqual({
      headers: ['Host', 'api.test', 'Content-Length', '5'],
      framing: 'length',
    });
  });
});

describe('the framing of the body', () => {
  it.each([
    [['Content-Length', '5'], 'length'],
    [['Transfer-Encoding', 'chunked'], 'chunked'],
    // RFC 9112 section 6.3: Transfer-Encoding overrides Content-Length.
    [['Transfer-Encoding', 'chunked', 'Content-Length', '5'], 'chunked'],
    [['Content-Length', '5', 'Transfer-Encoding', 'chunked'], 'chunked'],
    [['Accept', '*/*'], 'none'],
  ])('%j: %s', (headers, framing) => {
    expect(forwarded(headers, 'POST').framing).toBe(framing);
  });

  it.each(['POST', 'PUT', 'PATCH'])(
    '%s without a body gets the length 0, because Node would announce a body',
    (method) => {
      expect(forwarded([], method).headers).toEqual(['Host', 'api.test', 'Content-Length', '0']);
      expect(forwarded(['Transfer-Encoding', 'chunked'], method).headers).toEqual(['Host', 'api.test']);
      expect(forwarded(['Content-Length', '5'], method).headers).toEqual(['Host', 'api.test', 'Content-Length', '5']);
    },
  );

  it.each(['GET', 'DELETE', 'OPTIONS', 'POSTS', 'XPUT'])('%s gets none', (method) => {
    expect(forwarded([], method).headers).toEqual(['Host', 'api.test']);
  });
});

describe('the headers for the client', () => {
  const ours = ['X-Service-Route', 'governed', 'X-Service-Request-Id', 'id-1'];
  const relayed = (headers: string[], ...rest: [boolean?]) =>
    clientResponseHeaders(headers, 'governed', 'id-1', ...rest);

  it('keep names, case, order and duplicates, and end with ours', () => {
    const headers = ['B', '1', 'a', '2', 'B', '3', 'Content-Length', '5', 'Via', '1.1 x'];
    expect(relayed(headers)).toEqual([...headers, ...ours]);
  });

  it.each(['Connection', 'Keep-Alive', 'Transfer-Encoding', 'Upgrade', 'x-service-route', 'X-Service-Request-ID'])(
    'leave out %s',
    (name) => {
      expect(relayed([name, 'x', 'a', '1'])).toEqual(['a', '1', ...ours]);
    },
  );

  it('leave out what Connection names, but not the length', () => {
    expect(relayed(['X-A', '1', 'Connection', 'x-a, content-length', 'Content-Length', '5'])).toEqual([
      ...['Content-Length', '5'],
      ...ours,
    ]);
  });

  it('have no length when the body becomes shorter', () => {
    expect(relayed(['a', '1', 'Content-Length', '5', 'b', '2'], true)).toEqual(['a', '1', 'b', '2', ...ours]);
  });
});
