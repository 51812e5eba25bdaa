import { z } from 'zod';
import { isParameter, parametersIn, segmentsOf } from '../../../lambda/http/path-template.ts';
import { type App, definitions } from '../template/definitions.ts';

const textByName = z.record(z.string(), z.string()).default({});

const integrationSchema = z.object({
  type: z.string(),
  uri: z.string().optional(),
  responseTransferMode: z.string().optional(),
  timeoutInMillis: z.number().default(29_000),
  /** How a mock responds. */
  responses: z
    .object({
      default: z.object({ statusCode: z.string(), responseParameters: textByName, responseTemplates: textByName }),
    })
    .optional(),
});

const operationSchema = z.object({
  /** Authorizers by name, one of which must admit the request. */
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  'x-amazon-apigateway-integration': integrationSchema,
});

const bodySchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z
    .object({
      securitySchemes: z.record(
        z.string(),
        z.object({
          name: z.string(),
          'x-amazon-apigateway-authorizer': z.object({
            type: z.literal('cognito_user_pools'),
            providerARNs: z.tuple([z.string()]),
          }),
        }),
      ),
    })
    .default({ securitySchemes: {} }),
  'x-amazon-apigateway-binary-media-types': z.array(z.string()).default([]),
  'x-amazon-apigateway-gateway-responses': z
    .record(
      z.string(),
      z.object({ statusCode: z.string().optional(), responseParameters: textByName, responseTemplates: textByName }),
    )
    .default({}),
});

export type Integration = z.infer<typeof integrationSchema>;
export type ApiBody = z.infer<typeof bodySchema>;

const restApiSchema = z.object({
  /** The definition that API Gateway imports. */
  Body: bodySchema,
  /** Responses of this size or more are compressed; left out: none is. */
  MinimumCompressionSize: z.number().default(Number.POSITIVE_INFINITY),
});

/** @throws ZodError where a definition has what the host cannot run */
export const restApis = (app: App) => definitions(app, restApiSchema, 'AWS::ApiGateway::RestApi');

/** One method of one path of a REST API. */
export interface Route {
  readonly method: string;
  /** `/requests/{requestId}`: what the event calls `resource`. */
  readonly resourcePath: string;
  readonly segments: readonly string[];
  /** Name of its authorizer; undefined where it is open. */
  readonly authorizer: string | undefined;
  readonly integration: Integration;
}

/** Every method of every path of a definition. */
export const routesOf = ({ paths }: Pick<ApiBody, 'paths'>): Route[] =>
  Object.entries(paths).flatMap(([resourcePath, methods]) =>
    Object.entries(methods).map(([method, { security, 'x-amazon-apigateway-integration': integration }]) => ({
      method: method.toUpperCase(),
      resourcePath,
      segments: segmentsOf(resourcePath),
      authorizer: Object.keys(security[0] ?? {})[0],
      integration,
    })),
  );

/** A fixed segment is more specific than a parameter; decided from the left. */
const rank = ({ segments }: Route): string => segments.map((segment) => (isParameter(segment) ? '1' : '0')).join('');

export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The route API Gateway would take, undefined where it has none. @param path without the query string */
export const findRoute = (routes: readonly Route[], method: string, path: string): RouteMatch | undefined => {
  const actual = segmentsOf(path);
  return routes
    .filter((route) => route.method === method)
    .flatMap((route) => {
      const pathParameters = parametersIn(route.segments, actual);
      return pathParameters ? [{ route, pathParameters }] : [];
    })
    .sort((a, b) => (rank(a.route) < rank(b.route) ? -1 : 1))[0];
};
