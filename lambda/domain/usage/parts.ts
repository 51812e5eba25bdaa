import type { Reading } from '../usage-event.ts';
import { isRaw } from './raw.ts';

/**
 * A reading split where models of different prices share one usage object: iterations of Anthropic's advisor tool name a model
 * of their own, and are left out of the totals. Mostly the reading itself, alone.
 */
export const partsOf = (reading: Reading): readonly Reading[] => {
  const iterations = reading.usage?.['iterations'];
  if (!Array.isArray(iterations)) return [reading];
  const isForeign = (iteration: unknown): boolean =>
    isRaw(iteration) && typeof iteration['model'] === 'string' && iteration['model'] !== reading.modelAnswered;
  const foreign = iterations.filter(isForeign);
  if (foreign.length === 0) return [reading];
  return [
    { ...reading, usage: { ...reading.usage, iterations: iterations.filter((iteration) => !isForeign(iteration)) } },
    ...foreign.map((iteration) => ({
      ...reading,
      usage: iteration,
      modelAnswered: iteration['model'],
      modelRequested: null,
      extras: {},
    })),
  ];
};
