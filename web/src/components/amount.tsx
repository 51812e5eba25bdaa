import {
  exactMoney,
  formatCallMoney,
  formatFineMoney,
  formatMoney,
  formatMoneyChange,
  formatPartMoney,
  formatRoughMoney,
  formatShown,
  type Shown,
} from '../format/money.ts';
import { formatCount, formatExact } from '../format/quantity.ts';
import { formatAgo, formatDay, formatInstant, formatShortInstant } from '../format/time.ts';

const moneyFormats = {
  sum: formatMoney,
  call: formatCallMoney,
  fine: formatFineMoney,
  part: formatPartMoney,
  rough: formatRoughMoney,
  change: formatMoneyChange,
} as const;

interface MoneyProps {
  readonly nano: number | null;
  /** The same in the display currency. */
  readonly shown?: Shown | undefined;
  /** `change` has a sign, `call` four decimals, `part` six (the lines of a price), `fine` two to six, `rough` three digits. */
  readonly as?: keyof typeof moneyFormats;
  readonly className?: string | undefined;
}

/** An amount of money, or "unknown"; hovering shows all decimals of the US dollars. */
export const Money = ({ nano, shown, as = 'sum', className = '' }: MoneyProps) => (
  <span className={`num ${nano === null ? 'unknown' : ''} ${className}`} title={exactMoney(nano)}>
    {nano !== null && shown && shown.decimal !== null
      ? formatShown(shown.decimal, shown.code, as === 'rough' ? 3 : undefined)
      : moneyFormats[as](nano)}
  </span>
);

/** A count, such as of tokens, in short form; hovering shows the whole number. */
export const Count = ({ of, unit = '' }: { readonly of: number | null; readonly unit?: string }) =>
  of === null ? (
    <span className="dim">–</span>
  ) : (
    <span className="num" title={`${formatExact(of)} ${unit}`.trim()}>
      {formatCount(of)}
    </span>
  );

interface InstantProps {
  readonly iso: string;
  readonly ago?: boolean;
  readonly day?: boolean;
}

/** An instant in the user's time zone, or its day; hovering shows the seconds. */
export const Instant = ({ iso, ago = false, day = false }: InstantProps) => (
  <time className="num" dateTime={iso} title={formatInstant(iso)}>
    {ago ? formatAgo(iso) : day ? formatDay(iso) : formatShortInstant(iso)}
  </time>
);
