import { exactMoney, formatCallMoney, formatFineMoney, formatMoney, formatPartMoney } from '../format/money.ts';
import { formatCount, formatExact } from '../format/quantity.ts';
import { formatAgo, formatInstant, formatShortInstant } from '../format/time.ts';

const moneyFormats = { sum: formatMoney, call: formatCallMoney, fine: formatFineMoney, part: formatPartMoney } as const;

/** An amount of money; its full precision on hover. One that is not known is said so. */
export const Money = ({
  nano,
  as = 'sum',
  className = '',
}: {
  readonly nano: number | null;
  /** `call`: with four decimals; `part`: with six, as lines of a price; `fine`: with as many as it takes up to six. */
  readonly as?: keyof typeof moneyFormats;
  readonly className?: string | undefined;
}) => (
  <span className={`num ${nano === null ? 'unknown' : ''} ${className}`} title={exactMoney(nano)}>
    {moneyFormats[as](nano)}
  </span>
);

/** A count such as tokens: short, whole on hover. */
export const Count = ({ of, unit = '' }: { readonly of: number | null; readonly unit?: string }) =>
  of === null ? (
    <span className="dim">–</span>
  ) : (
    <span className="num" title={`${formatExact(of)} ${unit}`.trim()}>
      {formatCount(of)}
    </span>
  );

/** An instant in the user's zone; to the second on hover. */
export const Instant = ({ iso, ago = false }: { readonly iso: string; readonly ago?: boolean }) => (
  <time className="num" dateTime={iso} title={formatInstant(iso)}>
    {ago ? formatAgo(iso) : formatShortInstant(iso)}
  </time>
);
