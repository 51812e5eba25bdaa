import type { ServiceKey } from '../../data/accounts/service-keys.ts';
import { ValidationError } from '../../domain/errors.ts';
import { OTHER } from '../../domain/spend/dimensions.ts';
import type { ReadCounters } from '../../domain/spend/spend-report.ts';

interface ProjectQuery {
  readonly groupBy: readonly string[];
  readonly key?: string[] | undefined;
  readonly project?: string[] | undefined;
}

interface ProjectInput {
  readonly caller: { readonly accountId: string };
  readonly query: ProjectQuery;
}

interface ProjectDependencies {
  /** All keys of an account, also revoked ones. */
  readonly listKeys: (accountId: string) => Promise<readonly Pick<ServiceKey, 'keyId' | 'projectId'>[]>;
  readonly readCounters: ReadCounters;
}

/** No key has this id: a filter that no key passes is not the same as no filter. */
const NO_KEY = '(none)';

/** The keys that pass both filters; undefined without a filter. An empty value is "without a key", and so without a project. */
const selectedKeys = (
  { key, project }: ProjectQuery,
  projectOf: ReadonlyMap<string, string>,
): ReadonlySet<string> | undefined => {
  if (project === undefined) return key && new Set(key);
  const inProjects = [...projectOf.keys(), ''].filter((keyId) => project.includes(projectOf.get(keyId) ?? ''));
  return new Set(key ? inProjects.filter((keyId) => key.includes(keyId)) : inProjects);
};

/** Counters by project: each has the project in the place of its key, and those of other keys are left out. */
const countersByProject = (
  readCounters: ReadCounters,
  projectOf: ReadonlyMap<string, string>,
  selected: ReadonlySet<string> | undefined,
): ReadCounters =>
  async function* (...range) {
    for await (const counter of readCounters(...range)) {
      const { keyId } = counter.dimensions;
      if (keyId === OTHER) yield counter;
      else if (selected === undefined || selected.has(keyId ?? ''))
        yield { ...counter, dimensions: { ...counter.dimensions, keyId: projectOf.get(keyId ?? '') ?? null } };
    }
  };

/**
 * Adds projects to a report. A project is its keys, so a filter by project is one by keys, and a group by project one by keys with the
 * same project: there are no counters by project, and a key that moves takes its past along.
 *
 * @param implement the report over counters, which knows no projects
 * @param rename names the groups of keys `project` in its output
 */
export const withProjects =
  <I extends ProjectInput, O>(
    { listKeys, readCounters }: ProjectDependencies,
    implement: (readCounters: ReadCounters) => (input: I) => Promise<O>,
    rename: (output: O) => O,
  ) =>
  async (input: I): Promise<O> => {
    const { query, caller } = input;
    const isGrouped = query.groupBy.includes('project');
    if (!isGrouped && query.project === undefined) return implement(readCounters)(input);
    if (isGrouped && query.groupBy.includes('key')) {
      const message = 'key and project do not combine: a key belongs to one project';
      throw new ValidationError([{ path: 'groupBy', message }]);
    }
    const projectOf = new Map((await listKeys(caller.accountId)).map(({ keyId, projectId }) => [keyId, projectId]));
    const selected = selectedKeys(query, projectOf);
    const asked = (values: Iterable<string>) => {
      const distinct = [...new Set(values)];
      return distinct.length === 0 ? [NO_KEY] : distinct;
    };
    if (!isGrouped) {
      const byKey = { ...query, key: selected && asked(selected), project: undefined };
      return implement(readCounters)({ ...input, query: byKey });
    }
    const byProject = {
      ...query,
      groupBy: query.groupBy.map((name) => (name === 'project' ? 'key' : name)),
      key: selected && asked([...selected].map((keyId) => projectOf.get(keyId) ?? '')),
      project: undefined,
    };
    const counters = countersByProject(readCounters, projectOf, selected);
    return rename(await implement(counters)({ ...input, query: byProject }));
  };

/** A group of a report with the name `project` for what it names `key`. */
const renameGroup = <G extends { readonly key?: string | null | undefined }>({ key, ...group }: G) => ({
  ...group,
  project: key,
});

interface Groups {
  readonly groupBy: readonly string[];
  readonly groups: readonly { readonly key?: string | null | undefined }[];
}

/** The same of a report's groups. */
export const renameGroups = <R extends Groups>(report: R): R => ({
  ...report,
  groupBy: report.groupBy.map((name) => (name === 'key' ? 'project' : name)),
  groups: report.groups.map(renameGroup),
});

export const renameReport = <R extends Groups & { readonly series: readonly Pick<Groups, 'groups'>[] }>(
  report: R,
): R => ({
  ...renameGroups(report),
  series: report.series.map((point) => ({ ...point, groups: point.groups.map(renameGroup) })),
});

/** The first piece of a CSV is its header line. */
export async function* renameCsv(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let isHeader = true;
  for await (const piece of pieces) {
    yield isHeader ? piece.replace(/(?<=,)key(?=,)/, 'project') : piece;
    isHeader = false;
  }
}
