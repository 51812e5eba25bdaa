import type { Duration, Stack } from 'aws-cdk-lib';
import type { IUserPool } from 'aws-cdk-lib/aws-cognito';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ErrorMessages, gatewayResponses } from './error-responses.ts';

/** A method of a path, and the function that serves it. */
export interface ApiRoute {
  readonly method: 'ANY' | 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/things/{thingId}`; `{proxy+}` at the end stands for the rest of a path. */
  readonly path: string;
  readonly handler: IFunction;
  /** Cognito checks the token first. */
  readonly isSignedIn?: boolean;
  /** The function streams its responses. */
  readonly streams: boolean;
  readonly timeout: Duration;
}

export interface ApiBodyProps {
  readonly title: string;
  readonly routes: readonly ApiRoute[];
  /** Needed by routes for users who are signed in. */
  readonly userPool?: IUserPool;
  /** Whether it may be called at API Gateway's own address. */
  readonly hasOwnAddress: boolean;
  /** Web origins that may call the API, and read its own errors. */
  readonly corsOrigins: readonly string[];
  /** Where they differ from those of the other APIs. */
  readonly errorMessages?: ErrorMessages | undefined;
  /** Media types whose bodies reach the function as base64. */
  readonly binaryMediaTypes?: readonly string[] | undefined;
}

const AUTHORIZER = 'token';

/** @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html */
const integration = ({ handler, streams, timeout }: ApiRoute, { partition, region }: Stack) => {
  const [version, action] = streams ? ['2021-11-15', 'response-streaming-invocations'] : ['2015-03-31', 'invocations'];
  return {
    type: 'aws_proxy',
    httpMethod: 'POST',
    uri: `arn:${partition}:apigateway:${region}:lambda:path/${version}/functions/${handler.functionArn}/${action}`,
    timeoutInMillis: timeout.toMilliseconds(),
    ...(streams && { responseTransferMode: 'STREAM' }),
  };
};

const operation = (route: ApiRoute, stack: Stack) => {
  const parameters = [...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(route.isSignedIn && { security: [{ [AUTHORIZER]: [] }] }),
    responses: {},
    'x-amazon-apigateway-integration': integration(route, stack),
  };
};

/** Lets the origin of a request through if it is one of several: a header can name one only. */
const originTemplate = (origins: readonly string[]): string =>
  [
    '#set($origin = $input.params().header.get("Origin"))',
    '#if($origin == "")',
    '  #set($origin = $input.params().header.get("origin"))',
    '#end',
    `#if(${origins.map((origin) => `$origin == "${origin}"`).join(' || ')})`,
    '  #set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
  ].join('\n');

/** The response to a browser that asks before it calls. API Gateway gives it itself. */
const preflight = (origins: readonly string[]) => {
  const headers = {
    'Access-Control-Allow-Origin': origins[0],
    'Access-Control-Allow-Headers': 'Authorization,Content-Type,If-None-Match',
    'Access-Control-Allow-Methods': 'GET,POST,PUT,PATCH,DELETE',
    'Access-Control-Max-Age': '3600',
    Vary: 'Origin',
  };
  return {
    responses: {
      204: {
        description: 'What pages of other origins may do.',
        headers: Object.fromEntries(Object.keys(headers).map((name) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      requestTemplates: { 'application/json': '{ statusCode: 204 }' },
      responses: {
        default: {
          statusCode: '204',
          responseParameters: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]),
          ),
          ...(origins.length > 1 && { responseTemplates: { 'application/json': originTemplate(origins) } }),
        },
      },
    },
  };
};

/**
 * The definition of a REST API in OpenAPI, with API Gateway's extensions. It names no schemas: API Gateway passes requests on as they
 * are, and the functions parse them.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions.html
 */
export const apiBody = (props: ApiBodyProps, stack: Stack): object => {
  const { routes, corsOrigins, userPool, binaryMediaTypes } = props;
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return {
    openapi: '3.0.1',
    info: { title: props.title, version: '1' },
    paths: Object.fromEntries(
      [...byPath].map(([path, ofPath]) => [
        path,
        {
          ...Object.fromEntries(
            ofPath.map((route) => [
              route.method === 'ANY' ? 'x-amazon-apigateway-any-method' : route.method.toLowerCase(),
              operation(route, stack),
            ]),
          ),
          // A function that takes any method responds to preflights itself.
          ...(corsOrigins.length > 0 &&
            ofPath.every(({ method }) => method !== 'ANY') && { options: preflight(corsOrigins) }),
        },
      ]),
    ),
    ...(userPool && {
      components: {
        securitySchemes: {
          [AUTHORIZER]: {
            type: 'apiKey',
            name: 'Authorization',
            in: 'header',
            'x-amazon-apigateway-authtype': 'cognito_user_pools',
            'x-amazon-apigateway-authorizer': { type: 'cognito_user_pools', providerARNs: [userPool.userPoolArn] },
          },
        },
      },
    }),
    ...(binaryMediaTypes && { 'x-amazon-apigateway-binary-media-types': binaryMediaTypes }),
    // API Gateway reads it of a server; at the top it would be ignored.
    servers: [{ 'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: !props.hasOwnAddress } }],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(corsOrigins, props.errorMessages),
  };
};
