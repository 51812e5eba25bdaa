import { gzipSync } from 'node:zlib';

import type { Column, ColumnType, Value } from '../domain/exports/column.ts';
import { csvField } from '../domain/spend/spend-csv.ts';
import { usdOf } from '../domain/spend/spend-report.ts';
import type { FileFormat } from './file-format.ts';

const fieldOf = (type: ColumnType, value: Value): string => {
  if (value === null) return '';
  if (type === 'nanoUsd') return usdOf(Number(value));
  if (type === 'time') return new Date(Number(value)).toISOString().replace('.000Z', 'Z');
  return typeof value === 'string' ? csvField(value) : String(value);
};

/** CSV by RFC 4180 with a header line, compressed with gzip. A part is a gzip member of its own: readers join them. */
export const openCsvFile = (columns: readonly Column<unknown>[]): FileFormat => {
  let header = `${columns.map(({ name }) => name).join(',')}\r\n`;
  const compress = (text: string): Uint8Array => gzipSync(text, { level: 1 });
  return {
    encode: (rows) => {
      const lines = rows.map((row) => `${columns.map(({ type, of }) => fieldOf(type, of(row))).join(',')}\r\n`);
      const text = header + lines.join('');
      header = '';
      return compress(text);
    },
    end: () => (header === '' ? new Uint8Array() : compress(header)),
  };
};
