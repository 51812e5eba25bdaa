/**
 * Kind of a value. `json`: a JSON object as text. `time`: epoch milliseconds. `nanoUsd`: an integer, exported as a decimal in USD with
 * nine digits. `number`: a double, which FOCUS calls a decimal of double precision.
 */
export type ColumnType = 'text' | 'json' | 'time' | 'nanoUsd' | 'number' | 'count' | 'flag';

export type Value = string | number | boolean | null;

export interface Column<Row> {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (row: Row) => Value;
}

/** A JSON object as text; null where it is empty or missing. */
export const jsonOf = (members: object | null | undefined): string | null =>
  members && Object.keys(members).length > 0 ? JSON.stringify(members) : null;
