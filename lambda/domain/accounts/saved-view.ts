import { commonDimensions, dimensionOf } from '../spend/dimensions.ts';
import { hasFilter, type Part } from './scope.ts';

const groupings = ['by', 'and'] as const;
const periods = ['from', 'to', 'compareFrom', 'compareTo', 'zone'] as const;

/** The pages of the dashboard that a view can show, and the parameters that each has in its URL. */
export const viewParameters = {
  overview: [...commonDimensions, ...groupings, 'show', 'range', ...periods, 'per'],
  compare: [...commonDimensions, ...groupings, 'periods', ...periods],
  requests: [
    ...commonDimensions,
    ...(['from', 'to', 'outcome', 'provenance', 'session', 'agent', 'contains', 'status', 'orderBy'] as const),
  ],
} as const;

export type ViewPage = keyof typeof viewParameters;
export const viewPages = Object.keys(viewParameters) as [ViewPage, ...ViewPage[]];

export const MAX_VIEWS = 50;
export const MAX_SEARCH_CHARACTERS = 2_000;

/** The characters of a query (RFC 3986, section 3.4) but for `/` and `?`. */
const QUERY = /^(?:[\w\-.~!$&'()*+,;=:@]|%[\dA-Fa-f]{2})*$/;

export const isViewParameter = (page: ViewPage, name: string): boolean =>
  (viewParameters[page] as readonly string[]).includes(name) || (page !== 'requests' && name.startsWith('dim:'));

/** The values of a parameter as pages write them: a text, or JSON. */
const textsOf = (value: string): string[] => {
  try {
    return [JSON.parse(value)].flat().map(String);
  } catch {
    return [value];
  }
};

/** The projects, keys and members that a view names. */
export const namesOf = ({ search }: { readonly search: string }) => {
  const parameters = new URLSearchParams(search);
  return (['project', 'key', 'member'] as const).flatMap((name) =>
    parameters
      .getAll(name)
      .flatMap(textsOf)
      .map((value) => ({ name, value })),
  );
};

/** The first project, key or member outside of a part of an account that a view names. */
export const nameOutside = (part: Part, view: { readonly search: string }) =>
  namesOf(view).find(({ name, value }) => !hasFilter(part, { [dimensionOf(name)]: value }));

/** Why a page cannot have a query as its settings; undefined where it can. The page itself checks the values. */
export const searchProblem = (page: ViewPage, search: string): string | undefined => {
  if (search.length > MAX_SEARCH_CHARACTERS) return `may have at most ${MAX_SEARCH_CHARACTERS} characters`;
  if (!QUERY.test(search)) return 'must be the query of a URL, percent-encoded, without the question mark';
  const unknown = [...new URLSearchParams(search).keys()].find((name) => !isViewParameter(page, name));
  return unknown === undefined ? undefined : `the page ${page} has no parameter ${unknown}`;
};
