import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { nanoUsdPerUnit } from '../../lambda/domain/money.ts';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { openGenaiPrices } from '../../lambda/domain/price/genai-prices.ts';
import { type BookChoice, holidays, matchesModel, type Override } from '../../lambda/domain/price/overrides.ts';
import { loadBundledBook, providerOverrides } from '../../lambda/domain/price/price-book.ts';
import { comparedPromptTokens, type Rates, type TokenKind } from '../../lambda/domain/price/rates.ts';
import { openSecondPrices } from '../../lambda/domain/price/second-book.ts';

const genaiPrices = openGenaiPrices(bundledLists.genaiPrices);
const secondPrices = openSecondPrices(bundledLists.secondPrices);

/** Books round: 0.083333 is 0.25 / 3. */
const RELATIVE_TOLERANCE = 1e-4;

/** Which rates are compared, and what each is charged as where a book does not have it. */
const compared: readonly (readonly [TokenKind, ...TokenKind[]])[] = [
  ['input'],
  ['output'],
  ['cacheRead', 'input'],
  ['cacheWrite', 'input'],
  ['inputAudio', 'input'],
  ['outputAudio', 'output'],
];

/** The second book quotes this as "output" for models that make images, audio or video. */
const otherOutputs: readonly TokenKind[] = ['outputImage', 'outputAudio', 'outputVideo'];

export interface Disagreement {
  readonly provider: string;
  readonly model: string;
  /** `input: 2 | 0.5` in USD per million tokens, the first book's and the second's. */
  readonly rates: readonly string[];
  /** Resolution; null where nothing does. */
  readonly resolvedBy: BookChoice | Override | null;
}

/** A rate in USD per million tokens; `-` where there is none. */
export const usdPerMtok = (rate: bigint | undefined): string =>
  rate === undefined ? '-' : String(nanoUsdPerUnit(rate) / 1_000);

const differ = (a: bigint, b: bigint): boolean => {
  const larger = a > b ? a : b;
  const difference = a > b ? a - b : b - a;
  return larger > 0n && Number(difference) / Number(larger) > RELATIVE_TOLERANCE;
};

/** Kinds in which two books differ. A rate of the second alone is in dispute, unless it changes nothing; one of the first is not. */
const differingKinds = (first: Rates, second: Rates): TokenKind[] =>
  compared.flatMap(([kind, ...chargedAs]) => {
    const theirs = second[kind];
    if (theirs === undefined) return [];
    const ours = [kind, ...chargedAs].map((name) => first[name]).find((rate) => rate !== undefined);
    if (ours === undefined) return theirs === 0n ? [] : [kind];
    if (!differ(ours, theirs)) return [];
    const isOtherOutput = kind === 'output' && otherOutputs.some((name) => first[name] === theirs);
    return isOtherOutput ? [] : [kind];
  });

const holds = (override: Override, model: string, at: Date): boolean =>
  matchesModel(override.models, model) &&
  (!override.from || at >= new Date(override.from)) &&
  (!override.until || at < new Date(override.until));

const resolvedBy = (provider: string, model: string, kinds: readonly TokenKind[], at: Date) => {
  const { bookChoices = [], overrides = [] } = providerOverrides[provider] ?? {};
  const choice = bookChoices.find(({ models }) => matchesModel(models, model));
  if (choice) return choice;
  return (
    overrides.find(
      (override) => holds(override, model, at) && kinds.every((kind) => override.usdPerMtok?.[kind] !== undefined),
    ) ?? null
  );
};

/** Compares the two books for one provider at one time. */
export const compareProvider = (provider: string, at: Date) => {
  const secondModels = Object.keys(bundledLists.secondPrices.prices[provider] ?? {});
  const disagreements: Disagreement[] = [];
  let inBoth = 0;
  for (const model of secondModels) {
    const kinds = new Set<TokenKind>();
    const rates = new Set<string>();
    let isInFirst = false;
    for (const inputTokens of comparedPromptTokens) {
      const query = { provider, model, at, inputTokens };
      const first = genaiPrices(query);
      const second = secondPrices(query);
      if (!first || !second) continue;
      isInFirst = true;
      for (const kind of differingKinds(first.rates, second.rates)) {
        kinds.add(kind);
        rates.add(`${kind}: ${usdPerMtok(first.rates[kind])} | ${usdPerMtok(second.rates[kind])}`);
      }
    }
    if (isInFirst) inBoth++;
    if (kinds.size > 0)
      disagreements.push({
        provider,
        model,
        rates: [...rates],
        resolvedBy: resolvedBy(provider, model, [...kinds], at),
      });
  }
  return {
    provider,
    genaiPrices: bundledLists.genaiPrices[provider]?.models.length ?? 0,
    aiModelPrices: secondModels.length,
    inBoth,
    agreeing: inBoth - disagreements.length,
    onlyInSecond: secondModels.length - inBoth,
    disagreements,
  };
};

/**
 * Advice that makes DeepSeek's holidays of next year known, from 15 December of the list's last year on; null before. A command
 * reports it, and no test fails by the calendar: the build of a commit has to come out the same on every day.
 */
export const holidaysDue = (now: Date): string | null => {
  const lastYear = Math.max(...[...holidays].map((day) => Number(day.slice(0, 4))));
  if (now.getTime() < Date.UTC(lastYear, 11, 15)) return null;
  return `Add the public holidays of ${lastYear + 1} on weekdays to lambda/domain/price/overrides.ts. The State Council publishes them each November (gov.cn, 国务院办公厅关于${lastYear + 1}年部分节假日安排的通知). Check at https://api-docs.deepseek.com/quick_start/pricing that they still have no peak.`;
};

const findPrice = await loadBundledBook();

/** The models that providers sell: those that models.dev lists, which drops others, and those of overrides that hold. */
const currentModels = (provider: string): string[] => {
  const corrected = (providerOverrides[provider]?.overrides ?? []).flatMap(({ models, until }) =>
    until ? [] : models,
  );
  const names = [...Object.keys(bundledLists.secondPrices.prices[provider] ?? {}), ...corrected];
  return [...new Set(names)].filter((name) => !name.endsWith('*')).sort();
};

const agreement = (agree: boolean | null | undefined): string =>
  agree === null || agree === undefined ? 'one source' : agree ? 'agree' : 'DIFFER';

/** A line for each current model: its price, its sources with their age, and whether they agree. */
export const modelLines = (provider: string, at: Date): string[] =>
  currentModels(provider).flatMap((model) => {
    const found = findPrice({ provider, model, at, inputTokens: 1_000 });
    if (!found) return [];
    const { rates, evidence } = found;
    const sources = Object.entries(evidence?.sources ?? {}).map(([name, day]) =>
      day ? `${name} ${Math.floor((at.getTime() - Date.parse(day)) / DAY_MS)} d` : name,
    );
    const price = rates.input || rates.output ? `${usdPerMtok(rates.input)} / ${usdPerMtok(rates.output)}` : 'by unit';
    return [`${provider} ${model}  ${price}  ${sources.join(', ')}  ${agreement(evidence?.agree)}`];
  });
