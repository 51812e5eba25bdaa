/* Paths with parameters in braces: `/keys/{keyId}`. */

export const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

export const isParameter = (segment: string): boolean => segment.startsWith('{');

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The parameters of a path by their names; undefined where it does not fit the template. */
export const parametersIn = (
  template: readonly string[],
  path: readonly string[],
): Record<string, string> | undefined => {
  if (template.length !== path.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const actual = path[index] as string;
    if (isParameter(part)) parameters[part.slice(1, -1)] = decoded(actual);
    else if (part !== actual) return undefined;
  }
  return parameters;
};
