import { BILLABLE } from './billable-items.ts';
import {
  areAttempts,
  chargedAttempts,
  iterationsOf,
  promptSizeStep,
  promptTokensOf,
  readingsOf,
} from './iterations.ts';
import { svgUsagesOf } from './openai-shapes.ts';
import { at, count, isRaw, type Raw } from './raw.ts';
import type { Reading } from './usage-event.ts';

/**
 * Splits a reading where parts with different prices share one usage object: the groups of a batch's results, and Anthropic's
 * attempts on several models, its iterations with prompts of different prices, and those of its advisor tool, which name another
 * model and are not in the totals, as the models that write OpenAI's vector images do. Mostly returns the reading itself; nothing
 * where nothing is charged.
 */
export const partsOf = (reading: Reading): readonly Reading[] => {
  const groups = reading.usage?.['batch_groups'];
  const parts = Array.isArray(groups) ? groups.filter(isRaw).map((group, index) => ofGroup(reading, group, index)) : [];
  return (parts.length > 0 ? parts : [reading]).flatMap(byModel);
};

/** All models that a reading names: each of its parts has a price of its own. */
export const modelsIn = (reading: Reading): readonly string[] => [
  ...new Set(
    [reading, ...partsOf(reading)].flatMap(({ modelServed, modelRequested }) => modelServed ?? modelRequested ?? []),
  ),
];

/** Billable items are counted over the whole batch: the first group has them. */
const ofGroup = (reading: Reading, group: Raw, index: number): Reading => {
  const usage = at(group, 'usage');
  const model = at(group, 'model');
  return {
    ...reading,
    usage: isRaw(usage) ? usage : null,
    modelServed: typeof model === 'string' ? model : null,
    billableItems: {
      ...(index === 0 && reading.billableItems),
      [BILLABLE.batch]: count(at(group, 'lines'), 1),
      [BILLABLE.largestPromptTokens]: count(at(group, 'largest_prompt_tokens')),
    },
  };
};

/** Types of iterations of the response's own model, which are in its totals. */
const inTotals: ReadonlySet<unknown> = new Set(['message', 'compaction']);

/** A part that names its model. */
const ofModel = (reading: Reading, usage: Raw): Reading => ({
  ...reading,
  usage,
  modelServed: typeof usage['model'] === 'string' ? usage['model'] : null,
  modelRequested: null,
  billableItems: {},
});

const byModel = (reading: Reading): readonly Reading[] => {
  const svgs = svgUsagesOf(reading.usage ?? {});
  if (svgs.length > 0) {
    const own = { ...reading, usage: { ...reading.usage, svg_usage: undefined } };
    return [...byModel(own), ...svgs.map((usage) => ofModel({ ...reading, dialect: 'openai-responses' }, usage))];
  }
  const iterations = iterationsOf(reading.usage);
  if (areAttempts(iterations)) return chargedAttempts(reading);
  const isForeign = ({ type, model }: Raw): boolean =>
    !inTotals.has(type) && typeof model === 'string' && model !== reading.modelServed;
  const foreign = iterations.filter(isForeign);
  if (foreign.length === 0) return bySize(reading, iterations);
  const own = iterations.filter((iteration) => !isForeign(iteration));
  return [
    ...bySize({ ...reading, usage: { ...reading.usage, iterations: own } }, own),
    ...foreign.map((iteration) => ofModel(reading, { inference_geo: reading.usage?.['inference_geo'], ...iteration })),
  ];
};

/** Each iteration's own prompt size sets its price: the sum may exceed a limit that none of them does. */
const bySize = (reading: Reading, iterations: readonly Raw[]): readonly Reading[] => {
  if (iterations.length < 2 || reading.billableItems[BILLABLE.largestPromptTokens] !== undefined) return [reading];
  const sizes = iterations.map(promptTokensOf);
  if (new Set(sizes.map(promptSizeStep)).size > 1) return readingsOf(reading, iterations);
  return [
    { ...reading, billableItems: { ...reading.billableItems, [BILLABLE.largestPromptTokens]: Math.max(...sizes) } },
  ];
};
