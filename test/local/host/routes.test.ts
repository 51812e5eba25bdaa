import { describe, expect, it } from '@jest/globals';
import { findRoute, routesOf } from '../../../local/host/rest-api/routes.ts';
import { appOf, stackOf } from './stack-of.ts';

const resource = (parent: object, part: string) => ({
  Type: 'AWS::ApiGateway::Resource',
  Properties: { RestApiId: { Ref: 'Api' }, ParentId: parent, PathPart: part },
});
const method = (httpMethod: string, resourceId: object) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    RestApiId: { Ref: 'Api' },
    ResourceId: resourceId,
    HttpMethod: httpMethod,
    Integration: { Type: 'AWS_PROXY', Uri: 'arn' },
  },
});
const root = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };

const routes = routesOf(
  appOf(
    stackOf('api', {
      Api: { Type: 'AWS::ApiGateway::RestApi' },
      Root: method('GET', root),
      Requests: resource(root, 'requests'),
      Latest: resource({ Ref: 'Requests' }, 'latest'),
      One: resource({ Ref: 'Requests' }, '{requestId}'),
      Rest: resource({ Ref: 'Requests' }, '{proxy+}'),
      GetRequests: method('GET', { Ref: 'Requests' }),
      GetLatest: method('GET', { Ref: 'Latest' }),
      GetOne: method('GET', { Ref: 'One' }),
      AnyOne: method('ANY', { Ref: 'One' }),
      AnyRest: method('ANY', { Ref: 'Rest' }),
    }),
  ),
);
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
    ['PUT', '/requests/7', ['ANY', '/requests/{requestId}', { requestId: '7' }]],
    ['GET', '/requests/7/lines/1', ['ANY', '/requests/{proxy+}', { proxy: '7/lines/1' }]],
    ['POST', '/requests', undefined],
    ['GET', '/elsewhere', undefined],
  ])('%s %s', (httpMethod, path, expected) => {
    expect(found(httpMethod, path)).toEqual(expected);
  });
});
