import { CsvError, parse } from 'csv-parse/sync';
import * as z from 'zod/mini';
import { ValidationError } from '../errors.ts';
import type { BillLine } from './bill.ts';

const NANO_DIGITS = 9;
const AMOUNT = /^(-?)(\d{1,6})(?:\.(\d{1,9}))?$/;

/** An amount in USD, exactly. @param text a match of AMOUNT */
const nanoUsdOf = (text: string): number => {
  const [, sign, whole = '0', fraction = ''] = AMOUNT.exec(text) ?? [];
  const amount = Number(whole + fraction.padEnd(NANO_DIGITS, '0'));
  return sign === '-' && amount !== 0 ? -amount : amount;
};

const text = z.string().check(z.maxLength(200, 'is longer than 200 characters'));
const row = z.object({
  day: z.iso.date('must be a day as 2026-11-20'),
  amount: z.string().check(z.regex(AMOUNT, 'must be USD as 12.34 or -5, with 9 decimals at most')),
  item: z._default(text, ''),
  model: z._default(text, ''),
});

/** A day's item must stay below DynamoDB's 400 kB. */
const MAX_LINES_PER_DAY = 500;

const CURRENCY = /currency/;

const COLUMNS = 'day,amount[,item][,model]';

const problem = (message: string): ValidationError =>
  new ValidationError([{ path: 'csv', message }], `csv: ${message}`);

const rowsOf = (csv: string): { info: { lines: number }; record: Record<string, string> }[] => {
  try {
    return parse(csv, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
      info: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    if (error instanceof CsvError) throw problem(error.message);
    throw error;
  }
};

/** @throws ValidationError for an amount in another currency */
const requireUsd = (record: Readonly<Record<string, string>>, line: number): void => {
  const isOther = ([name, value]: [string, string]) => CURRENCY.test(name) && !/^(usd)?$/i.test(value);
  const other = Object.entries(record).find(isOther);
  if (other)
    throw problem(
      `line ${line}: ${other[0]} is ${other[1].slice(0, 20)}. Amounts must be in USD: convert them at the rate of the invoice, and leave the column out.`,
    );
};

/**
 * Lines of an invoice: CSV (RFC 4180) with a header that names the columns `day` (UTC) and `amount` (USD), and where there are any
 * `item` and `model`. Other columns are ignored, but a column of a currency must say USD.
 *
 * @throws ValidationError that names the line, or the day with too many
 */
export const parseBillCsv = (csv: string): BillLine[] => {
  const rows = rowsOf(csv);
  if (rows.length === 0) throw problem(`has no lines. It needs a header (${COLUMNS}) and a line for each amount.`);
  const lines = rows.map(({ info, record }) => {
    const parsed = row.safeParse(record);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const column = String(issue?.path[0] ?? '');
      const isMissing = !Object.hasOwn(record, column);
      throw problem(
        isMissing
          ? `has no column ${column}. The header is ${COLUMNS}.`
          : `line ${info.lines}: ${column} ${issue?.message}`,
      );
    }
    requireUsd(record, info.lines);
    const { day, amount, item, model } = parsed.data;
    return {
      day,
      item: item || model || 'usage',
      model: model || null,
      amountNanoUsd: nanoUsdOf(amount),
    };
  });
  for (const [day, { length }] of Map.groupBy(lines, (line) => line.day))
    if (length > MAX_LINES_PER_DAY)
      throw problem(
        `has ${length} lines for ${day}; the limit is ${MAX_LINES_PER_DAY}. Add up lines of the same model.`,
      );
  return lines;
};
