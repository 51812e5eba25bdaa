import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  gatewayRequest,
  type LambdaResponseStream,
  lambdaResponse,
} from '../../../lambda/gateway/hosts/lambda-adapter.ts';

/** A proxy event with what the adapter reads of it. */
const event = (parts: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent =>
  ({
    httpMethod: 'POST',
    path: '/v1/chat/completions',
    multiValueHeaders: {},
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { domainName: 'openai.gateway.test' },
    ...parts,
  }) as APIGatewayProxyEvent;

describe('gatewayRequest', () => {
  it('takes path, host, method and headers as they are, duplicates apart', () => {
    expect(
      gatewayRequest(
        event({
          path: '/v1/files/a%2Fb%2e%2e//c',
          multiValueHeaders: { 'X-Odd': ['one', 'two'], Authorization: ['Bearer sk'] },
        }),
      ),
    ).toEqual({
      method: 'POST',
      host: 'openai.gateway.test',
      target: '/v1/files/a%2Fb%2e%2e//c',
      headers: ['X-Odd', 'one', 'X-Odd', 'two', 'Authorization', 'Bearer sk'],
      body: null,
    });
  });

  it('encodes the query anew: the values are the client’s, a lone surrogate is no reason to fail', () => {
    const { target } = gatewayRequest(
      event({ path: '/x', multiValueQueryStringParameters: { a: ['1', '2 &='], é: [''], s: ['\ud800'] } }),
    );
    expect(target).toBe('/x?a=1&a=2%20%26%3D&%C3%A9=&s=%EF%BF%BD');
  });

  it('reads the provider from the path at API Gateway’s own address alone', () => {
    const at = (domainName: string) =>
      gatewayRequest(
        event({
          path: '/gateway/openai/svc_1/v1/models',
          multiValueQueryStringParameters: { limit: ['1'] },
          requestContext: { domainName } as APIGatewayProxyEvent['requestContext'],
        }),
      );
    expect(at('a1b2c3.execute-api.eu-central-1.amazonaws.com')).toMatchObject({
      label: 'openai',
      target: '/svc_1/v1/models?limit=1',
    });
    expect(at('groq.gateway.test')).toMatchObject({ target: '/gateway/openai/svc_1/v1/models?limit=1' });
    expect(at('groq.gateway.test')).not.toHaveProperty('label');
  });

  it('leaves out names without values', () => {
    const { target, headers } = gatewayRequest(
      event({ path: '/x', multiValueQueryStringParameters: { a: undefined }, multiValueHeaders: { b: undefined } }),
    );
    expect([target, headers]).toEqual(['/x', []]);
  });

  it('decodes the body and says its length, whatever the framing was', () => {
    const body = Buffer.from([0, 255, 10, 13]);
    const request = gatewayRequest(
      event({
        body: body.toString('base64'),
        isBase64Encoded: true,
        multiValueHeaders: {
          'Transfer-Encoding': ['chunked'],
          'content-length': ['7'],
          'Content-Disposition': ['caf\xe9'],
        },
      }),
    );
    expect(request.body).toEqual(body);
    // Node's client would decode a `Content-Disposition` behind the length.
    expect(request.headers).toEqual(['Content-Disposition', 'caf\xe9', 'Content-Length', '4']);
    expect(gatewayRequest(event({ body: 'é' })).headers).toEqual(['Content-Length', '2']);
  });
});

/** The runtime's stream, as far as it differs from others: the prelude goes out with the first write. */
const runtimeStream = () => {
  const written: string[] = [];
  let prelude: unknown;
  let begun = false;
  let ended = false;
  let drain = (): void => {};
  const stream = {
    write: (chunk: string | Uint8Array) => {
      if (!begun) written.push(`prelude ${JSON.stringify(prelude)}`);
      begun = true;
      if (chunk.length > 0) written.push(Buffer.from(chunk).toString());
      return false;
    },
    end: (last?: Uint8Array) => {
      if (last) written.push(Buffer.from(last).toString());
      ended = true;
    },
    on: (event: string, listener: () => void) => {
      if (event === 'drain') drain = listener;
      return stream;
    },
  };
  const global = {
    HttpResponseStream: {
      from: (of: typeof stream, metadata: unknown) => {
        prelude = metadata;
        return of;
      },
    },
  };
  return {
    stream: stream as unknown as LambdaResponseStream,
    global,
    written,
    ended: () => ended,
    drain: () => drain(),
  };
};

describe('lambdaResponse', () => {
  let runtime: ReturnType<typeof runtimeStream>;
  beforeEach(() => {
    runtime = runtimeStream();
    Object.assign(globalThis, { awslambda: runtime.global });
  });
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'awslambda');
  });

  it('sends status and headers at once, before any body', () => {
    const { client } = lambdaResponse(runtime.stream);
    client.start(429, 'ignored', ['Retry-After', '7', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'set-cookie', 'c=3']);
    expect(runtime.written).toEqual([
      `prelude ${JSON.stringify({
        statusCode: 429,
        headers: { 'retry-after': '7' },
        multiValueHeaders: { 'set-cookie': ['a=1', 'b=2', 'c=3'] },
      })}`,
    ]);
    client.end([]);
    expect(runtime.ended()).toBe(true);
  });

  it('knows the id of the request, for the log line that joins it with the platform’s', () => {
    const { client, requestId } = lambdaResponse(runtime.stream);
    expect(requestId()).toBeUndefined();
    client.start(200, '', [
      'Content-Type',
      'text/plain',
      'X-Service-Route',
      'governed',
      'X-Service-Request-Id',
      'id-1',
    ]);
    expect(requestId()).toBe('id-1');
  });

  it('reports when the platform is slower than the provider', () => {
    const { client } = lambdaResponse(runtime.stream);
    client.start(200, '', []);
    expect(client.write(Buffer.from('x'))).toBe(false);
  });

  it('does not end an interrupted response: the platform interrupts it when the handler fails', () => {
    const { client, isInterrupted } = lambdaResponse(runtime.stream);
    client.start(200, '', []);
    client.write(Buffer.from('half'));
    expect(isInterrupted()).toBe(false);
    client.abort();
    expect(isInterrupted()).toBe(true);
    expect(runtime.ended()).toBe(false);
  });

  it('drops the largest headers when all are more than API Gateway reads', () => {
    const { client } = lambdaResponse(runtime.stream);
    client.start(200, '', [
      'Content-Type',
      'application/json',
      'Content-Security-Policy',
      'x'.repeat(60_000),
      'Set-Cookie',
      `a=${'y'.repeat(5_000)}`,
      'Set-Cookie',
      `b=${'y'.repeat(5_000)}`,
      'X-Request-Id',
      'req_1',
    ]);
    const { headers, multiValueHeaders } = JSON.parse(runtime.written[0]?.slice('prelude '.length) ?? '');
    expect(headers).toEqual({ 'content-type': 'application/json', 'x-request-id': 'req_1' });
    expect(multiValueHeaders['set-cookie']).toHaveLength(2);
    expect(runtime.written[0]?.length).toBeLessThan(16_384);
  });

  const preludeOf = (headers: string[]) => {
    runtime = runtimeStream();
    Object.assign(globalThis, { awslambda: runtime.global });
    lambdaResponse(runtime.stream).client.start(200, '', headers);
    const prelude = runtime.written[0]?.slice('prelude '.length) ?? '';
    return { bytes: Buffer.byteLength(prelude), headers: JSON.parse(prelude).headers as Record<string, string> };
  };
  /** Bytes of the metadata around one value of a header `x-fill`. */
  const frameBytes = JSON.stringify({ statusCode: 200, headers: { 'x-fill': '' }, multiValueHeaders: {} }).length;
  const LIMIT_BYTES = 16_000;

  it.each([
    ['plain ASCII', 'x', 1],
    ['two bytes in UTF-8', 'é', 2],
    ['escaped in JSON with a backslash', '"', 2],
    ['escaped in JSON with six characters', '\x01', 6],
  ])('keeps metadata of up to 16,000 bytes and drops a header above that: %s', (_case, character, bytesEach) => {
    const fill = character.repeat(Math.floor((LIMIT_BYTES - frameBytes) / bytesEach));
    const fitting = preludeOf(['X-Fill', fill]);
    expect(fitting.headers).toEqual({ 'x-fill': fill });
    expect(fitting.bytes).toBeGreaterThan(LIMIT_BYTES - bytesEach);
    expect(preludeOf(['X-Fill', fill + character]).headers).toEqual({});
  });

  it('drops no more headers than it must, the largest first, whatever their order', () => {
    const headers = ['A', 'a'.repeat(6_000), 'B', 'b'.repeat(7_000), 'C', 'c'.repeat(6_500)];
    expect(Object.keys(preludeOf(headers).headers)).toEqual(['a', 'c']);
    const same = ['A', 'a'.repeat(9_000), 'B', 'b'.repeat(9_000)];
    expect(Object.keys(preludeOf(same).headers)).toEqual(['b']);
  });

  it('takes for a disconnected client that the platform no longer takes the response', () => {
    const closesOf = (writableFinished: boolean): number => {
      const stream = Object.assign(new EventEmitter(), { writableFinished });
      let closes = 0;
      lambdaResponse(stream as unknown as LambdaResponseStream).client.onDisconnect(() => closes++);
      stream.emit('close');
      return closes;
    };
    expect([closesOf(true), closesOf(false)]).toEqual([0, 1]);
  });

  it('hands over the listener for the drain and the last bytes', () => {
    const { client } = lambdaResponse(runtime.stream);
    client.start(200, '', []);
    let drained = 0;
    client.onDrain(() => drained++);
    runtime.drain();
    expect(drained).toBe(1);
    client.end([], Buffer.from('last'));
    expect(runtime.written.slice(1)).toEqual(['last']);
  });
});
