import { MOCK_RESPONSE } from '../mock/providers.ts';
import type { DemoCall } from './calls.ts';
import type { MakeCall } from './clients.ts';

const CONCURRENCY = 4;

const statusOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;

/** Fault from the client's view, undefined where the SDK saw what it should have seen. */
const fault = async (call: DemoCall, makeCall: MakeCall): Promise<string | undefined> => {
  const name = `${call.provider} ${call.model ?? call.method}${call.stream ? ' (streamed)' : ''}`;
  try {
    const text = await makeCall(call);
    if (call.status !== undefined) return `${name}: the SDK reported no error, expected status ${call.status}`;
    return call.method === 'openai-models' || text === MOCK_RESPONSE ? undefined : `${name}: the SDK read "${text}"`;
  } catch (error) {
    return statusOf(error) === call.status && call.status !== undefined ? undefined : `${name}: ${error}`;
  }
};

/**
 * Makes all calls, a few at a time.
 *
 * @param onProgress called with the number of calls made
 * @throws the signal's reason, once it is aborted
 * @returns what clients saw go wrong
 */
export const sendTraffic = async (
  calls: readonly DemoCall[],
  makeCall: MakeCall,
  onProgress: (made: number) => void,
  interruption: AbortSignal,
): Promise<string[]> => {
  const faults: string[] = [];
  const queue = calls.values();
  let made = 0;
  const client = async () => {
    for (const call of queue) {
      interruption.throwIfAborted();
      const found = await fault(call, makeCall);
      if (found) faults.push(found);
      made += 1;
      onProgress(made);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  return faults;
};
