import { Money } from '../components/amount.tsx';

/** Amounts as the service writes them: `$22.746670654`. */
const AMOUNT = /(\$\d+(?:\.\d+)?)/;
const NANO_DIGITS = 9;

/** Nano-USD of `$22.746670654`, digit by digit: no rounding on the way. */
const nanoOf = (amount: string): number => {
  const [whole = '0', decimals = ''] = amount.slice(1).split('.');
  return Number(`${whole}${decimals.padEnd(NANO_DIGITS, '0').slice(0, NANO_DIGITS)}`);
};

/** The service's sentence, which has each amount to the nano-dollar: here as people read money, and exact on hover. */
export const Summary = ({ text, className }: { readonly text: string; readonly className?: string | undefined }) => (
  <p className={className}>
    {text.split(AMOUNT).map((part, index) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no other name than their place.
      index % 2 === 1 ? <Money key={index} nano={nanoOf(part)} /> : part,
    )}
  </p>
);
