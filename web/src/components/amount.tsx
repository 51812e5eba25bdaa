import { exactMoney, formatFineMoney, formatMoney } from '../format/money.ts';
import { formatCompact, formatExact } from '../format/quantity.ts';
import { formatAgo, formatInstant, formatShortInstant } from '../format/time.ts';

/** An amount of money; its full precision on hover. One that is not known is said so. */
export const Money = ({
  nano,
  fine = false,
  className = '',
}: {
  readonly nano: number | null;
  /** With up to six decimals. */
  readonly fine?: boolean;
  readonly className?: string | undefined;
}) => (
  <span className={`num ${nano === null ? 'unknown' : ''} ${className}`} title={exactMoney(nano)}>
    {(fine ? formatFineMoney : formatMoney)(nano)}
  </span>
);

/** A count such as tokens: short, whole on hover. */
export const Count = ({ of, unit = '' }: { readonly of: number | null; readonly unit?: string }) =>
  of === null ? (
    <span className="dim">–</span>
  ) : (
    <span className="num" title={`${formatExact(of)} ${unit}`.trim()}>
      {formatCompact(of)}
    </span>
  );

/** An instant in the user's zone; to the second on hover. */
export const Instant = ({ iso, ago = false }: { readonly iso: string; readonly ago?: boolean }) => (
  <time className="num" dateTime={iso} title={formatInstant(iso)}>
    {ago ? formatAgo(iso) : formatShortInstant(iso)}
  </time>
);
