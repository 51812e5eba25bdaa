import { cpus } from 'node:os';

/** @param q 0.5 for the median */
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

type Figures = Readonly<Record<string, unknown>>;

/** Prints what a benchmark found: the machine, a table, and last one line of JSON with all of it. */
export const report = (bench: string, settings: Figures, results: readonly Figures[]): void => {
  const machine = { node: process.version, cpu: cpus()[0]?.model.trim(), cores: cpus().length };
  const at = new Date().toISOString();
  console.log(`${at}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}`);
  console.table(results);
  console.log(JSON.stringify({ bench, at, ...machine, ...settings, results }));
};
