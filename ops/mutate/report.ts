/** As much as is read of Stryker's report. */
export interface Report {
  readonly files: Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly id: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

const noticed = ['Killed', 'Timeout'];
const unnoticed = ['Survived', 'NoCoverage'];

const count = (mutants: readonly Mutant[], statuses: readonly string[]): number =>
  mutants.filter(({ status }) => statuses.includes(status)).length;

const row = (name: string, mutants: readonly Mutant[]): string => {
  const found = count(mutants, noticed);
  const missed = count(mutants, unnoticed);
  const score = found + missed > 0 ? `${((100 * found) / (found + missed)).toFixed(1)} %` : '';
  const values = [score, found, count(mutants, ['Survived']), count(mutants, ['NoCoverage'])];
  return [name.padEnd(50), ...values.map((value) => String(value).padStart(10))].join('');
};

/** Each file's score and the group's: of the changes that tests run at all or ought to, how many they notice. */
export const scoreTable = (name: string, { files }: Report): string =>
  [
    ['file'.padEnd(50), ...['score', 'noticed', 'survived', 'not run'].map((name) => name.padStart(10))].join(''),
    ...Object.entries(files).map(([file, { mutants }]) => row(file, mutants)),
    row(
      name,
      Object.values(files).flatMap(({ mutants }) => mutants),
    ),
  ].join('\n');

const MAX_TEXT = 100;
const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
};

const textAt = (source: string, { start, end }: Mutant['location']): string => {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  lines[0] = lines[0]!.slice(start.column - 1);
  return lines.join('\n');
};

/** The changes that no test notices, a line each: where, which kind, from what to what. */
export const survivors = ({ files }: Report): string =>
  Object.entries(files)
    .flatMap(([file, { source, mutants }]) =>
      mutants
        .filter(({ status }) => unnoticed.includes(status))
        .toSorted((one, other) => one.location.start.line - other.location.start.line)
        .map(({ location, mutatorName, replacement = '', status }) => {
          const change = `${oneLine(textAt(source, location))} -> ${oneLine(replacement)}`;
          return `${file}:${location.start.line} ${mutatorName}${status === 'NoCoverage' ? ' (not run)' : ''}: ${change}\n`;
        }),
    )
    .join('');
