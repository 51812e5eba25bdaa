import { gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { Column, ColumnType, Value } from '../domain/exports/column.ts';
import { csvField } from '../domain/spend/spend-csv.ts';
import { usdOf } from '../domain/spend/spend-report.ts';

/** Encodes rows, some thousand at a time, to the bytes of a file. */
interface FileFormat {
  encode(rows: readonly unknown[]): Uint8Array;
  /** The last bytes. */
  end(): Uint8Array;
}

const elements: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  // UTC, which readers take from the converted type.
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  nanoUsd: { type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 9 },
  number: { type: 'DOUBLE' },
  count: { type: 'INT64' },
  flag: { type: 'BOOLEAN' },
};

const INTEGERS: ReadonlySet<ColumnType> = new Set(['time', 'nanoUsd', 'count']);

/** A bigint is written as it is; a number would be taken for an amount in USD and scaled as a float. */
const storedValue = (type: ColumnType, value: Value): unknown => {
  if (value === null) return undefined;
  return INTEGERS.has(type) ? BigInt(value) : value;
};

/** A file in the Parquet format, compressed with Snappy, a row group at a time. */
export const openParquetFile = (columns: readonly Column<unknown>[]): FileFormat => {
  const writer = new ByteWriter() as ByteWriter & { index: number };
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: 'row', num_children: columns.length },
      ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...elements[type] })),
    ],
    createdBy: 'ai-spend-gateway',
  });
  /** Takes what has been written out of the writer, which keeps counting. */
  const takeBytes = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  return {
    encode: (rows) => {
      // One group: offsets of pages would be held in memory until the end of the file.
      void parquet.write({
        columnData: columns.map(({ name, type, of }) => ({
          name,
          data: rows.map((row) => storedValue(type, of(row))),
          offsetIndex: false,
        })),
        rowGroupSize: rows.length,
      });
      return takeBytes();
    },
    end: () => {
      void parquet.finish();
      return takeBytes();
    },
  };
};

const fieldOf = (type: ColumnType, value: Value): string => {
  if (value === null) return '';
  if (type === 'nanoUsd') return usdOf(Number(value));
  if (type === 'time') return new Date(Number(value)).toISOString().replace('.000Z', 'Z');
  // FOCUS writes small numbers as 1.5E-7.
  if (type === 'number') return String(value).toUpperCase();
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
