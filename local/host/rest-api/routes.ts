import type { ApiBody, Integration } from './definition.ts';

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

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

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

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const isParameter = (segment: string): boolean => segment.startsWith('{');

/** The path parameters where the path fits the template, undefined where it does not. */
const match = (template: readonly string[], path: readonly string[]): Record<string, string> | undefined => {
  if (template.length !== path.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const actual = path[index] ?? '';
    if (isParameter(part)) parameters[part.slice(1, -1)] = decoded(actual);
    else if (part !== actual) return undefined;
  }
  return parameters;
};

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
      const pathParameters = match(route.segments, actual);
      return pathParameters ? [{ route, pathParameters }] : [];
    })
    .sort((a, b) => (rank(a.route) < rank(b.route) ? -1 : 1))[0];
};
