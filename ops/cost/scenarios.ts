import type { Traffic } from './estimate.ts';

/** Counters of an account with some traffic: bench/recorder.ts, batches of 100 of five accounts. */
const writeUnitsBeyondRecord = 2;

export const scenarios: readonly Traffic[] = [
  {
    name: 'embedding',
    requestBytes: 2_000,
    responseBytes: 20_000,
    durationMs: 300,
    processorMs: 4,
    writeUnitsBeyondRecord,
  },
  {
    name: 'chat, not streamed',
    requestBytes: 4_000,
    responseBytes: 3_000,
    durationMs: 2_000,
    processorMs: 4,
    writeUnitsBeyondRecord,
  },
  {
    name: 'short stream',
    requestBytes: 4_000,
    responseBytes: 60_000,
    durationMs: 5_000,
    processorMs: 20,
    writeUnitsBeyondRecord,
  },
  {
    name: 'long stream',
    requestBytes: 20_000,
    responseBytes: 600_000,
    durationMs: 60_000,
    processorMs: 70,
    writeUnitsBeyondRecord,
  },
];
