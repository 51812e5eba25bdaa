import { KEYS } from '../../gateway/gateway-host.ts';

/** What must become of a request: not forwarded, with this status; or forwarded as exactly one, with this request line. */
type Result =
  | { readonly refused: readonly number[] }
  | { readonly line: string; readonly body?: string; readonly header?: RegExp; readonly without?: RegExp };

export interface HostileRequest {
  readonly name: string;
  readonly pieces: readonly string[];
  readonly result: Result;
}

const HOST = 'Host: openai.gateway.test\r\n';
const KEY = `X-Service-Key: ${KEYS.active}\r\n`;
const AUTH = 'Authorization: Bearer sk-hostile\r\n';
/** What makes a request good, blank line not included. */
export const GOOD = HOST + KEY + AUTH;

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n';
const refused = (...refused: number[]): Result => ({ refused });
const request = (name: string, text: string, result: Result): HostileRequest => ({ name, pieces: [text], result });
const get = (name: string, target: string, seen: string): HostileRequest =>
  request(name, `GET ${target} HTTP/1.1\r\n${GOOD}\r\n`, { line: `GET ${seen} HTTP/1.1` });
const post = (name: string, headers: string, body: string, result: Result): HostileRequest =>
  request(name, `POST /a HTTP/1.1\r\n${GOOD}${headers}\r\n${body}`, result);
const header = (name: string, line: string, result: Result): HostileRequest =>
  request(name, `GET /a HTTP/1.1\r\n${GOOD}${line}\r\n\r\n`, result);
const key = (name: string, lines: string, ...statuses: number[]): HostileRequest =>
  request(name, `GET /a HTTP/1.1\r\n${HOST}${AUTH}${lines}\r\n`, refused(...statuses));

const A: Result = { line: 'GET /a HTTP/1.1', body: '' };
const HELLO: Result = { line: 'POST /a HTTP/1.1', body: 'hello' };
const UNSEEN: Result = { ...A, without: /X-Service/i };
const LENGTH = 'Content-Length: 5\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const AS_BODY = `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`;

/** Requests that mean one thing to one server and another to the next. */
const smuggling: readonly HostileRequest[] = [
  post('Content-Length and Transfer-Encoding', `${LENGTH}${CHUNKED}`, '0\r\n\r\n', refused(400)),
  post('Transfer-Encoding, then Content-Length', `${CHUNKED}${LENGTH}`, '0\r\n\r\n', refused(400)),
  post('two Content-Lengths that differ', `${LENGTH}Content-Length: 6\r\n`, 'hello!', refused(400)),
  post('two Content-Lengths that agree', `${LENGTH}${LENGTH}`, 'hello', refused(400)),
  post('a Content-Length that is a list', 'Content-Length: 5, 5\r\n', 'hello', refused(400)),
  post('a negative Content-Length', 'Content-Length: -5\r\n', 'hello', refused(400)),
  post('a Content-Length with a sign', 'Content-Length: +5\r\n', 'hello', refused(400)),
  post('a Content-Length in hexadecimal', 'Content-Length: 0x5\r\n', 'hello', refused(400)),
  post('a space before the colon', 'Content-Length : 5\r\n', 'hello', refused(400)),
  post('chunked, identity', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n', refused(400)),
  post('xchunked', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n', refused(400)),
  post('Transfer-Encoding with a vertical tab', 'Transfer-Encoding:\x0bchunked\r\n', '0\r\n\r\n', refused(400)),
  post('a chunk size that is none', CHUNKED, `zz\r\n${SMUGGLED}`, refused(400, 502)),
  post('a chunk size past 2^64', CHUNKED, `1ffffffffffffffff\r\n${SMUGGLED}`, refused(400, 502)),
  post('chunks without their line ends', CHUNKED, `5\r\nhelloXX0\r\n\r\n${SMUGGLED}`, refused(400, 502)),
  post('chunk extensions', CHUNKED, '5;a=b;c="d"\r\nhello\r\n0\r\n\r\n', HELLO),
  post('Connection names Content-Length', `Connection: content-length\r\n${LENGTH}`, 'hello', HELLO),
  request(
    'Connection names Content-Length, on a GET with a request as its body',
    `GET /a HTTP/1.1\r\n${GOOD}Connection: content-length\r\n${AS_BODY}`,
    { ...A, body: SMUGGLED },
  ),
  request(
    'Connection names Transfer-Encoding, on a GET with a request as its body',
    `GET /a HTTP/1.1\r\n${GOOD}Connection: transfer-encoding\r\n${CHUNKED}\r\n${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    { ...A, body: SMUGGLED },
  ),
  request('a request as the body of a GET', `GET /a HTTP/1.1\r\n${GOOD}${AS_BODY}`, { ...A, body: SMUGGLED }),
  request('a request as the body of a HEAD', `HEAD /a HTTP/1.1\r\n${GOOD}${AS_BODY}`, {
    line: 'HEAD /a HTTP/1.1',
    body: SMUGGLED,
  }),
  header('obs-fold', 'X-A: one\r\n two', refused(400)),
  request('bare line feeds', `GET /a HTTP/1.1\n${GOOD.replaceAll('\r', '')}\n`, refused(400)),
  request('a request line with two targets', `GET /a /b HTTP/1.1\r\n${GOOD}\r\n`, refused(400)),
  request('HTTP/1.2', `GET /a HTTP/1.2\r\n${GOOD}\r\n`, refused(400)),
  request('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', refused(400)),
  request('TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', refused(400)),
];

const injection: readonly HostileRequest[] = [
  header('a NUL in a header', 'X-A: a\0b', refused(400)),
  header('a carriage return in a header', 'X-A: a\rGET /smuggled HTTP/1.1', refused(400)),
  header('a header name with a space', 'X A: b', refused(400)),
  header('a header without a name', ': b', refused(400)),
  header('a header name beyond ASCII', 'X-\xc3\xa9: b', refused(400)),
  header('a header value in UTF-8', 'X-A: caf\xc3\xa9', { ...A, header: /^X-A: caf\xc3\xa9\r$/m }),
  header('a header value in latin1', 'X-A: caf\xe9', { ...A, header: /^X-A: caf\xe9\r$/m }),
  header('encoded line ends stay encoded', 'X-A: %0d%0aHost: evil.test', {
    ...A,
    header: /^X-A: %0d%0aHost: evil.test\r$/m,
  }),
  get('encoded line ends in the path', '/a%0d%0aHost:%20evil.test', '/a%0d%0aHost:%20evil.test'),
  get('an encoded NUL in the path', '/a%00b', '/a%00b'),
  request('a NUL in the path', `GET /a\0b HTTP/1.1\r\n${GOOD}\r\n`, refused(400)),
  request('UTF-8 in the path', `GET /caf\xc3\xa9 HTTP/1.1\r\n${GOOD}\r\n`, refused(400)),
  header('a second Host', 'Host: evil.test', { ...A, without: /evil/ }),
  header('X-Forwarded-Host', 'X-Forwarded-Host: evil.test', { ...A, without: /evil/ }),
  header('Forwarded', 'Forwarded: host=evil.test', { ...A, without: /evil/ }),
  request(
    'a WebSocket upgrade',
    `GET /v1/realtime HTTP/1.1\r\n${GOOD}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    refused(426),
  ),
];

const targets: readonly HostileRequest[] = [
  get('//host', '//evil.test/x', '//evil.test/x'),
  get('/@host', '/@evil.test/x', '/@evil.test/x'),
  get('/\\host', '/\\evil.test/x', '/\\evil.test/x'),
  get('dots', '/v1/../../etc/passwd', '/v1/../../etc/passwd'),
  get('encoded dots and slashes', '/v1/%2e%2e/%2F%2Fevil.test%2Fx', '/v1/%2e%2e/%2F%2Fevil.test%2Fx'),
  get('twice encoded', '/v1/%252e%252e%252f', '/v1/%252e%252e%252f'),
  get('malformed escapes', '/v1/%zz%', '/v1/%zz%'),
  get('an absolute target', 'http://evil.test/x?y=1', '/x?y=1'),
  get('an absolute target without a path', 'http://evil.test', '/'),
  get('an absolute target with credentials', 'https://a:b@evil.test:1/x', '/x'),
  request('a target of host and path', `GET @evil.test/x HTTP/1.1\r\n${GOOD}\r\n`, refused(400)),
  request('CONNECT', `CONNECT evil.test:443 HTTP/1.1\r\n${GOOD}\r\n`, refused()),
  request('OPTIONS *', `OPTIONS * HTTP/1.1\r\n${GOOD}\r\n`, { line: 'OPTIONS /* HTTP/1.1' }),
  get('a target of 8,000 characters', `/${'a'.repeat(8_000)}`, `/${'a'.repeat(8_000)}`),
];

const many = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}: 1`).join('\r\n');
const huge: readonly HostileRequest[] = [
  header('a header of 300 KB', `X-A: ${'a'.repeat(300_000)}`, refused(431)),
  header('10,000 headers', many(10_000, 'X-Header-Number-'), refused(431)),
  header('1,500 headers', many(1_500, 'X-'), { ...A, header: /^X-1499: 1\r$/m }),
];

const good = KEYS.active;
const wrong = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`;
const service: readonly HostileRequest[] = [
  key('no service key', '', 400),
  key('an empty service key', 'X-Service-Key:   \r\n', 400),
  key('a service key of wrong length', `X-Service-Key: ${good}x\r\n`, 401),
  key('a service key of wrong checksum', `X-Service-Key: ${wrong}\r\n`, 401),
  key('a service key of wrong prefix', `X-Service-Key: sk_${good.slice(3)}\r\n`, 401),
  key('a service key with characters beyond base62', `X-Service-Key: ${good.slice(0, 10)}#${good.slice(11)}\r\n`, 401),
  key('a service key in latin1', `X-Service-Key: ${good.slice(0, 10)}\xe9${good.slice(11)}\r\n`, 401),
  key('two service keys', `${KEY}X-Service-Key: ${KEYS.absent}\r\n`, 401),
  header('the same service key twice', KEY.trimEnd(), UNSEEN),
  key('a service key of 50 KB', `X-Service-Key: ${good.repeat(1_500)}\r\n`, 401, 431),
  header('headers of ours that mean nothing', 'X-Service-Route: governed\r\nX-Service-Request-Id: mine', UNSEEN),
  header('a tag of 65 characters', `X-Service-Tag: ${'t'.repeat(65)}`, UNSEEN),
  header('a tag that is no UTF-8', 'X-Service-Tag: \xff\xfe\x80', UNSEEN),
  header('two tags', 'X-Service-Tag: a\r\nX-Service-Tag: b', UNSEEN),
];

export const hostileRequests: readonly HostileRequest[] = [...smuggling, ...injection, ...targets, ...huge, ...service];
