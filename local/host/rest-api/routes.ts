import { z } from 'zod';
import { type App, definitions } from '../template/definitions.ts';

const resourceSchema = z.object({ RestApiId: z.string(), ParentId: z.string(), PathPart: z.string() });

const integrationSchema = z.object({
  Type: z.string(),
  Uri: z.string().optional(),
  ResponseTransferMode: z.string().optional(),
  TimeoutInMillis: z.number().default(29_000),
  IntegrationResponses: z
    .array(
      z.object({
        StatusCode: z.string(),
        ResponseParameters: z.record(z.string(), z.string()).default({}),
        ResponseTemplates: z.record(z.string(), z.string()).default({}),
      }),
    )
    .default([]),
});

const methodSchema = z.object({
  RestApiId: z.string(),
  ResourceId: z.string(),
  HttpMethod: z.string(),
  AuthorizationType: z.string().default('NONE'),
  AuthorizerId: z.string().optional(),
  Integration: integrationSchema,
});

export type Integration = z.infer<typeof integrationSchema>;

/** One method of one path of a REST API. */
export interface Route {
  readonly apiId: string;
  /** `ANY` stands for all. */
  readonly method: string;
  /** `/requests/{requestId}`: what the event calls `resource`. */
  readonly resourcePath: string;
  readonly segments: readonly string[];
  readonly authorizationType: string;
  readonly authorizerId: string | undefined;
  readonly integration: Integration;
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

/** Every method of every REST API of the templates. */
export const routesOf = (app: App): Route[] => {
  const resources = new Map(
    definitions(app, resourceSchema, 'AWS::ApiGateway::Resource').map(({ ref, properties }) => [ref, properties]),
  );
  const pathOf = (resourceId: string): string => {
    const resource = resources.get(resourceId);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : '';
  };
  return definitions(app, methodSchema, 'AWS::ApiGateway::Method').map(({ properties }) => {
    const resourcePath = pathOf(properties.ResourceId) || '/';
    return {
      apiId: properties.RestApiId,
      method: properties.HttpMethod,
      resourcePath,
      segments: segmentsOf(resourcePath),
      authorizationType: properties.AuthorizationType,
      authorizerId: properties.AuthorizerId,
      integration: properties.Integration,
    };
  });
};

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const isGreedy = (segment: string): boolean => segment.endsWith('+}');
const isParameter = (segment: string): boolean => segment.startsWith('{');

/** The path parameters where the path fits the template, undefined where it does not. */
const match = (template: readonly string[], path: readonly string[]): Record<string, string> | undefined => {
  const parameters: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const actual = path[index];
    if (actual === undefined) return undefined;
    if (isGreedy(part)) {
      parameters[part.slice(1, -2)] = path.slice(index).map(decoded).join('/');
      return parameters;
    }
    if (isParameter(part)) parameters[part.slice(1, -1)] = decoded(actual);
    else if (part !== actual) return undefined;
  }
  return template.length === path.length ? parameters : undefined;
};

/** A fixed segment is more specific than a parameter, a parameter than a greedy one; decided from the left. */
const rank = ({ segments, method }: Route): string =>
  segments.map((segment) => (isGreedy(segment) ? '2' : isParameter(segment) ? '1' : '0')).join('') +
  (method === 'ANY' ? '9' : '8');

export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The route API Gateway would take, undefined where it has none. @param path without the query string */
export const findRoute = (routes: readonly Route[], method: string, path: string): RouteMatch | undefined => {
  const actual = segmentsOf(path);
  return routes
    .filter((route) => route.method === 'ANY' || route.method === method)
    .flatMap((route) => {
      const pathParameters = match(route.segments, actual);
      return pathParameters ? [{ route, pathParameters }] : [];
    })
    .sort((a, b) => (rank(a.route) < rank(b.route) ? -1 : 1))[0];
};
