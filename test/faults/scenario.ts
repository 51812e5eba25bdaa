/** `quick` is what `npm run test:faults` runs; `full` is `npm run faults`. */
export type Scale = 'quick' | 'full';

/** One thing that goes wrong, and what must hold all the same. */
export interface Scenario<Context> {
  readonly name: string;
  /** Runs at full scale only: too long for `npm run test:faults`. */
  readonly fullOnly?: boolean;
  /**
   * Returns what was seen, in few words, for the table.
   *
   * @throws AssertionError where a promise does not hold
   */
  readonly run: (context: Context, scale: Scale) => Promise<string>;
}

/** Scenarios that share what they run on. */
export interface ScenarioGroup<Context> {
  readonly title: string;
  readonly open: (scale: Scale) => Promise<Context>;
  readonly close: (context: Context) => Promise<unknown>;
  readonly scenarios: readonly Scenario<Context>[];
}
