import type { SpendChange } from '../api/responses.ts';
import { minorUnit, shownCosts } from '../format/numbers.ts';

const effects = [
  {
    name: 'volumeNanoUsd',
    label: 'Volume',
    what: 'More or fewer tokens, of the same models at the same cost for a token.',
  },
  { name: 'mixNanoUsd', label: 'Mix', what: 'Another share of each model, new and vanished models included.' },
  {
    name: 'priceNanoUsd',
    label: 'Price',
    what: 'A token of the same model costs more or less: rates, and the share of output and of cached tokens.',
  },
] as const;

/** Parts of a sum in whole units, which add up to the sum in whole units: the largest takes what rounding leaves. */
const inUnits = (parts: readonly number[], sum: number, unit: number): readonly number[] => {
  const rounded = parts.map((part) => Math.round(part / unit));
  const left = Math.round(sum / unit) - rounded.reduce((total, part) => total + part, 0);
  const largest = parts.reduce((best, part, index) => (Math.abs(part) > Math.abs(parts[best] ?? 0) ? index : best), 0);
  return rounded.map((part, index) => (index === largest ? part + left : part) * unit);
};

/**
 * The three effects, and where the exchange rate changed what that did: amounts in 1e-9 of `code`, or of US dollars, which add up to the
 * change as it is shown.
 */
export const effectsShown = ({ effects: of, totals, displayCurrency }: SpendChange) => {
  const { before, now, change } = shownCosts(totals, displayCurrency);
  const code = change?.decimal == null ? undefined : change.code;
  const sum = code ? Number(change?.decimal) * 1e9 : (totals.costChangeNanoUsd ?? 0);
  // The rate of the period, or of the one before where it cost nothing.
  const [nanoUsd, shown] = totals.costNanoUsd ? [totals.costNanoUsd, now] : [totals.costBeforeNanoUsd, before];
  const rate = code && nanoUsd ? (Number(shown?.decimal) * 1e9) / nanoUsd : 1;
  const parts = effects.map(({ name }) => (of?.[name] ?? 0) * rate);
  const byRate = sum - parts.reduce((total, part) => total + part, 0);
  const unit = minorUnit(code);
  const whole = inUnits([...parts, byRate], sum, unit);
  const rows = [
    ...effects.map((effect, index) => ({ ...effect, nano: (Math.abs(sum) < unit ? parts : whole)[index] ?? 0 })),
    { label: 'Exchange rate', what: 'A dollar is worth more or less.', nano: whole[effects.length] ?? 0 },
  ];
  return { code, rows: rows.filter(({ nano }, index) => index < effects.length || (code && nano !== 0)) };
};
