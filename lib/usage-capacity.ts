/** Each request has an open and a close event. */
const EVENTS_A_REQUEST = 2;
/**
 * Events a second that one recorder is sure to work off. `npm run bench -- recorder` has two of them record 2,300 events a second in batches of 100; a
 * function of 1,024 MB has 0.58 of a processor, and the table takes longer than the emulator.
 */
const EVENTS_A_RECORDER = 200;
/** Traffic at its peak, or a queue that has grown meanwhile. */
const HEADROOM = 2;
/** Measured, see docs/performance.md: two for the record, and its share of the counters. */
const WRITE_UNITS_A_REQUEST = 4;
/** Half for the gateway's look-up of a key, half for the open event, and as much again for people and rules. */
const READ_UNITS_A_REQUEST = 2;

/** Traffic that a new on-demand table takes at once. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html */
const NEW_TABLE = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 };

/** Limits of SQS for the maximum of concurrent functions. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
export const RECORDERS = { least: 2, most: 1_000 };
/** More than a thousand events exceed what a function is sent at once (6 MB) where they are large, and take longer than they save. */
export const BATCH = { least: 100, most: 1_000 };

const within = (value: number, { least, most }: { readonly least: number; readonly most: number }): number =>
  Math.min(most, Math.max(least, value));

/**
 * Sizes recorders and table for a number of requests a second, where the settings do not say otherwise. Batches grow with the traffic:
 * the more events of an account come together, the fewer transactions and the fewer conflicts.
 */
export const usageCapacity = (requestsPerSecond: number) => {
  const writes = WRITE_UNITS_A_REQUEST * HEADROOM * requestsPerSecond;
  return {
    maxConcurrency: within(Math.ceil((EVENTS_A_REQUEST * HEADROOM * requestsPerSecond) / EVENTS_A_RECORDER), RECORDERS),
    batchSize: within(100 * Math.ceil(requestsPerSecond / 500), BATCH),
    /** Undefined where a new table takes it. */
    warmThroughput:
      writes <= NEW_TABLE.writeUnitsPerSecond
        ? undefined
        : {
            readUnitsPerSecond: Math.max(NEW_TABLE.readUnitsPerSecond, READ_UNITS_A_REQUEST * requestsPerSecond),
            writeUnitsPerSecond: writes,
          },
  };
};
