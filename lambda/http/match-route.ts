import { NotFoundError } from '../domain/errors.ts';
import type { Route } from './operation.ts';

/** `event.path` begins with the base path behind a base-path mapping, and without it behind a stage. */
const BASE_PATH = /^\/api(?=\/|$)/;

const segments = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const parametersOf = (template: string[], actual: string[]): Record<string, string> | undefined => {
  if (template.length !== actual.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const value = actual[index] as string;
    if (part.startsWith('{')) params[part.slice(1, -1)] = decode(value);
    else if (part !== value) return undefined;
  }
  return params;
};

/**
 * Finds the route for a method and path, and its path parameters. The first match wins, so a fixed path must come before a
 * parameter that also matches it.
 */
export const findRoute = (routes: readonly Route[], method: string, path: string) => {
  const actual = segments(path.replace(BASE_PATH, ''));
  for (const route of routes) {
    if (route.operation.method !== method) continue;
    const params = parametersOf(segments(route.operation.path), actual);
    if (params !== undefined) return { route, params };
  }
  return undefined;
};

/** @throws NotFoundError */
export const matchRoute = (routes: readonly Route[], method: string, path: string) => {
  const found = findRoute(routes, method, path);
  if (found === undefined) throw new NotFoundError('There is no such endpoint. GET /api/openapi.json lists them.');
  return found;
};
