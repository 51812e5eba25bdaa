import { isDeepStrictEqual } from 'node:util';
import { contentText, type FileContent, type JsonObject } from '../../lambda/domain/coding-tools.ts';
import { CommandError } from '../command.ts';

/** A file with what a set-up needs, and the names of what it lacked or had otherwise. Values may be secrets. */
export interface MergedFile {
  readonly text: string;
  readonly changed: readonly string[];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Entries of a list are known by their id: those of others stay. */
const mergeEntries = (
  before: readonly unknown[],
  entries: readonly JsonObject[],
  path: string,
  changed: string[],
): JsonObject[] => {
  const merged = [...before] as JsonObject[];
  for (const entry of entries) {
    const index = merged.findIndex((there) => isObject(there) && there['id'] === entry['id']);
    const at = `${path}[${entry['id']}]`;
    const whole = mergeMembers(merged[index] ?? {}, entry, `${at}.`, changed);
    if (index === -1) merged.push(whole);
    else merged[index] = whole;
  }
  return merged;
};

const mergeMembers = (before: JsonObject, members: JsonObject, path: string, changed: string[]): JsonObject => {
  const merged: Record<string, JsonObject[string]> = { ...before };
  for (const [name, value] of Object.entries(members)) {
    const there = before[name];
    if (isObject(value)) merged[name] = mergeMembers(isObject(there) ? there : {}, value, `${path}${name}.`, changed);
    else if (Array.isArray(value))
      merged[name] = mergeEntries(Array.isArray(there) ? there : [], value, path + name, changed);
    else if (!isDeepStrictEqual(there, value)) {
      merged[name] = value;
      changed.push(path + name);
    }
  }
  return merged;
};

const indentOf = (text: string): string => /^[{]\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ';

const mergeJson = (before: string, members: JsonObject): MergedFile => {
  let parsed: unknown;
  try {
    parsed = before.trim() === '' ? {} : JSON.parse(before);
  } catch {
    throw new CommandError('it is not plain JSON (does it have comments?): add the members by hand');
  }
  if (!isObject(parsed)) throw new CommandError('it is no JSON object: add the members by hand');
  const changed: string[] = [];
  const merged = mergeMembers(parsed, members, '', changed);
  return { text: changed.length === 0 ? before : `${JSON.stringify(merged, null, indentOf(before))}\n`, changed };
};

/** Sets lines that begin with a name, in their place or at the end. */
const mergeLines = (
  before: readonly string[],
  values: Readonly<Record<string, string>>,
  { separator, path = '' }: { readonly separator: '=' | ' = '; readonly path?: string },
  changed: string[],
): string[] => {
  const lines = [...before];
  for (const [name, value] of Object.entries(values)) {
    const isOf = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`);
    const index = lines.findIndex((line) => isOf.test(line));
    const line = `${name}${separator}${value}`;
    if (index !== -1 && lines[index]?.replace(/^\s*(?:export\s+)?/, '') === line) continue;
    if (index === -1) lines.push(line);
    else lines[index] = line;
    changed.push(path + name);
  }
  return lines;
};

const linesOf = (text: string): string[] => (text.trim() === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** `[table] # comment`; others that begin like this are in an array. */
const TABLE = /^\s*\[{1,2}([^[\],]+)\]{1,2}\s*(#.*)?$/;

const mergeToml = (before: string, { top, table, lines }: FileContent & { readonly format: 'toml' }): MergedFile => {
  const changed: string[] = [];
  const all = linesOf(before);
  const isTable = (line: string) => /^\s*\[/.test(line);
  const nameOf = (line: string) => TABLE.exec(line)?.[1]?.trim();
  const texts = [...before.matchAll(/("""|''')(.*?)\1/gs)].map(([, , text = '']) => text);
  if (
    texts.some((text) => /^\s*(\[|\w+\s*=)/m.test(text)) ||
    all.some((line) => isTable(line) && nameOf(line) === undefined)
  )
    throw new CommandError('it has a value of several lines: add the lines by hand');
  if (all.some((line) => nameOf(line)?.startsWith(`${table}.`)))
    throw new CommandError(`it has a table in ${table}: add the lines by hand`);
  const head: string[] = [];
  const tables: string[][] = [];
  for (const line of all) {
    if (isTable(line)) tables.push([line]);
    else (tables.at(-1) ?? head).push(line);
  }
  const own = tables.find(([first = '']) => nameOf(first) === table);
  const others = tables.filter((each) => each !== own).flat();
  const mergedHead = mergeLines(head, top, { separator: ' = ' }, changed);
  const mergedOwn = mergeLines(own?.slice(1) ?? [], lines, { separator: ' = ', path: `${table}.` }, changed);
  if (changed.length === 0) return { text: before, changed };
  const parts = [mergedHead, others, [`[${table}]`, ...mergedOwn]].map((part) => part.join('\n').trim());
  return { text: `${parts.filter((part) => part !== '').join('\n\n')}\n`, changed };
};

/**
 * Puts a set-up into a file, and keeps everything else that is there.
 *
 * @param before the file's text; empty where there is none
 * @throws CommandError where it cannot be done without losing something
 */
export const mergeFile = (before: string, content: FileContent): MergedFile => {
  switch (content.format) {
    case 'json':
      return mergeJson(before, content.members);
    case 'toml':
      return mergeToml(before, content);
    case 'env': {
      const changed: string[] = [];
      const lines = mergeLines(linesOf(before), content.variables, { separator: '=' }, changed);
      return { text: changed.length === 0 ? before : `${lines.join('\n')}\n`, changed };
    }
    case 'yaml':
      if (before.includes(content.text)) return { text: before, changed: [] };
      if (before.trim() === '') return { text: `${contentText(content)}\n`, changed: ['models'] };
      throw new CommandError('it is YAML that exists already: add the model by hand');
  }
};
