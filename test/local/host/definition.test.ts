import { describe, expect, it } from '@jest/globals';
import { findRoute, routesOf } from '../../../local/host/rest-api/definition.ts';

const method = {
  security: [],
  'x-amazon-apigateway-integration': { type: 'aws_proxy', uri: 'arn', timeoutInMillis: 29_000 },
};

const routes = routesOf({
  paths: {
    '/': { get: method },
    '/requests': { get: method },
    '/requests/latest': { get: method },
    '/requests/{requestId}': { get: method },
  },
});
const found = (httpMethod: string, path: string) => {
  const match = findRoute(routes, httpMethod, path);
  return match && [match.route.method, match.route.resourcePath, match.pathParameters];
};

describe('routes of a REST API', () => {
  it.each([
    ['GET', '/', ['GET', '/', {}]],
    ['GET', '/requests', ['GET', '/requests', {}]],
    ['GET', '/requests/latest', ['GET', '/requests/latest', {}]],
    ['GET', '/requests/a%2Fb', ['GET', '/requests/{requestId}', { requestId: 'a/b' }]],
    ['PUT', '/requests/7', undefined],
    ['GET', '/requests/7/lines/1', undefined],
    ['POST', '/requests', undefined],
    ['GET', '/elsewhere', undefined],
  ])('%s %s', (httpMethod, path, expected) => {
    expect(found(httpMethod, path)).toEqual(expected);
  });
});
