/** Reads the tables of the columns from a checkout of the FOCUS specification: `node ops/focus/generate.ts FOLDER > ops/focus/focus-1.2.json` */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = 'https://github.com/FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec/tree/v1.2/specification/columns';

const folder = join(process.argv[2] ?? '.', 'specification/columns');

const linesOf = (file: string) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').split('\n');

/** The fields of a row of a table. */
const fieldsOf = (line: string): string[] => {
  const text = line.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return text
    .split('|')
    .slice(1, -1)
    .map((field) => field.trim());
};

const columnOf = (file: string) => {
  const lines = linesOf(file);
  const name =
    lines
      .slice(lines.indexOf('## Column ID') + 1)
      .find((line) => line.trim() !== '')
      ?.trim() ?? '';
  const constraint = (label: RegExp) => lines.map(fieldsOf).find(([field]) => label.test(field ?? ''))?.[1] ?? '';
  const start = lines.findIndex((line) => /^#* ?Allowed values:?$/i.test(line.trim()));
  const rows =
    start < 0
      ? []
      : lines
          .slice(start)
          .filter((line) => line.startsWith('|'))
          .map(fieldsOf);
  // The table of subcategories has their category in front.
  const position = rows[0]?.findIndex((field) => /^(value|service category|service subcategory)$/i.test(field)) ?? 0;
  const isPaired = /subcategory/i.test(rows[0]?.[1] ?? '');
  const values = rows.slice(2).map((fields) => (isPaired ? `${fields[0]}/${fields[1]}` : (fields[position] ?? '')));
  const range = constraint(/^number range$/i);
  return {
    name,
    level: constraint(/^feature level$/i),
    type: constraint(/^data type$/i),
    isNullable: constraint(/^allows nulls$/i) === 'True',
    ...(/non-negative/.test(range) && { isNonNegative: true }),
    ...(values.length > 0 && { values }),
  };
};

const columns = readdirSync(folder)
  .filter((file) => file.endsWith('.md'))
  .map(columnOf)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

const license = 'CC BY 4.0, FinOps Open Cost and Usage Specification';

console.log(JSON.stringify({ source: SOURCE, license, columns }, null, 2));
