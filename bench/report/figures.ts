import { cpus } from 'node:os';

/** @param q 0.5 for the median */
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** A figure and its 95 % confidence interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1_000;

/**
 * A figure of several rounds, with its 95 % confidence interval by the bootstrap: rounds are drawn again and again, with replacement.
 *
 * @param figure of the rounds with these indices
 */
export const withInterval = (rounds: number, figure: (drawn: readonly number[]) => number): Interval => {
  const all = Array.from({ length: rounds }, (_, round) => round);
  const resampled = Array.from({ length: RESAMPLES }, () => figure(all.map(() => Math.floor(Math.random() * rounds))));
  return { value: figure(all), low: quantile(resampled, 0.025), high: quantile(resampled, 0.975) };
};

/** The median ratio of figures that were taken in the same rounds. */
export const pairedRatio = (of: readonly number[], to: readonly number[]): Interval =>
  withInterval(Math.min(of.length, to.length), (drawn) =>
    median(drawn.map((round) => (of[round] as number) / (to[round] as number))),
  );

/** `0.45 [0.43, 0.47]` */
export const intervalText = ({ value, low, high }: Interval, digits = 2): string =>
  `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;

type Figures = Readonly<Record<string, unknown>>;

/** Prints what a benchmark found: the machine, a table, and last one line of JSON with all of it. */
export const report = (bench: string, settings: Figures, results: readonly Figures[]): void => {
  const machine = { node: process.version, cpu: cpus()[0]?.model.trim(), cores: cpus().length };
  const at = new Date().toISOString();
  console.log(`${at}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}`);
  console.table(results);
  console.log(JSON.stringify({ bench, at, ...machine, ...settings, results }));
};
