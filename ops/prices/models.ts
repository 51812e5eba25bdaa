import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { providerOverrides } from '../../lambda/domain/price/overrides.ts';
import { loadBundledBook } from '../../lambda/domain/price/price-book.ts';
import { usdPerMtok } from './compare.ts';

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
