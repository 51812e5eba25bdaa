import { Money } from '../components/amount.tsx';

/** Amounts as the API writes them: `$22.746670654`. */
const AMOUNT = /(\$\d+(?:\.\d+)?)/;
const NANO_DIGITS = 9;

/** Nano-USD of `$22.746670654`. Works on digits: floating point would round. */
const nanoOf = (amount: string): number => {
  const [whole = '0', decimals = ''] = amount.slice(1).split('.');
  return Number(`${whole}${decimals.padEnd(NANO_DIGITS, '0').slice(0, NANO_DIGITS)}`);
};

/** The API's summary, with its exact amounts rounded for reading; hovering shows the exact ones. */
export const Summary = ({ text, className }: { readonly text: string; readonly className?: string | undefined }) => (
  <p className={className}>
    {text.split(AMOUNT).map((part, index) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other identity than their position.
      index % 2 === 1 ? <Money key={index} nano={nanoOf(part)} /> : part,
    )}
  </p>
);
