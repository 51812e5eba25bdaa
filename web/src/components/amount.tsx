import { createContext, useContext } from 'react';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { usdToNanoUsd } from '../../../lambda/domain/money.ts';
import { knownCost, type MayAlsoMatch, moreRequestsText } from '../../../lambda/domain/spend/known-cost.ts';
import {
  exactMoney,
  formatCount,
  formatExact,
  formatMoney,
  formatWhole,
  type MoneyStyle,
  plural,
  type Shown,
  shownIn,
} from '../format/numbers.ts';
import { formatAgo, formatDay, formatInstant, formatShortInstant } from '../format/time.ts';
import { useEvery } from './use-every.ts';

/** The display currency, and what a US dollar is in it. */
export interface Rate {
  readonly code: string;
  readonly perUsd: number;
}

/** Amounts below it are shown at this rate, where they have no cost in the display currency themselves. */
export const AtRate = createContext<Rate | undefined>(undefined);

/** The rate that a sum was converted at, on average: parts that are shown at it add up to the sum. */
export const rateOf = (nano: number | null, shown: Shown | undefined): Rate | undefined =>
  shown?.decimal && nano ? { code: shown.code, perUsd: Number(shown.decimal) / (nano / 1e9) } : undefined;

/** Formats amounts at the rate of this part of the page. */
export const useMoney = () => {
  const rate = useContext(AtRate);
  return (nano: number | null, as?: MoneyStyle): string =>
    rate && nano !== null ? formatMoney(nano * rate.perUsd, as, rate.code) : formatMoney(nano, as);
};

interface MoneyProps {
  readonly nano: number | null;
  /** The same in the display currency, where it is known exactly. */
  readonly shown?: Shown | undefined;
  readonly as?: MoneyStyle;
  readonly className?: string | undefined;
}

/** An amount of money, or "unknown"; hovering shows all decimals of the US dollars. */
export const Money = ({ nano, shown, as = 'sum', className = '' }: MoneyProps) => {
  const format = useMoney();
  return (
    <span className={`num ${nano === null ? 'unknown' : ''} ${className}`} title={exactMoney(nano)}>
      {nano !== null && shown && shown.decimal !== null
        ? formatMoney(Number(shown.decimal) * 1e9, as, shown.code)
        : format(nano, as)}
    </span>
  );
};

/** Amounts as the API writes them: `$22.746670654`. */
const AMOUNT = /(\$\d+(?:\.\d+)?)/;

/** A text of the API, with its exact amounts rounded for reading; hovering shows the exact ones. */
export const WithAmounts = ({ text }: { readonly text: string }) =>
  text.split(AMOUNT).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other identity than their position.
    index % 2 === 1 ? <Money key={index} nano={usdToNanoUsd(Number(part.slice(1)))} /> : part,
  );

/** The requests that a sum does not include. */
export const Unpriced = ({ of }: { readonly of: number }) =>
  of > 0 && <span className="unknown">+ {plural(of, 'request')} of unknown cost</span>;

interface CostProps extends Pick<MoneyProps, 'as'> {
  /** A request or a sum, as the API has it. */
  readonly of: Parameters<typeof shownIn>[0] & { readonly costNanoUsd: number | null };
  /** The display currency of a sum. */
  readonly code?: string | undefined;
}

/** A cost, in the display currency where there is one. */
export const Cost = ({ of, code, ...style }: CostProps) => (
  <Money nano={of.costNanoUsd} shown={shownIn(of, code)} {...style} />
);

/** A cost, and below it the requests that it does not include. */
export const CostAndUnpriced = ({ of }: { readonly of: CostProps['of'] & { readonly unpricedRequests: number } }) => {
  const { costNanoUsd, unpricedRequests } = of;
  const known = costNanoUsd === null ? null : knownCost(costNanoUsd, unpricedRequests);
  return (
    <>
      <Cost of={{ ...of, costNanoUsd: known }} />
      <div className="small">
        <Unpriced of={unpricedRequests} />
      </div>
    </>
  );
};

/** Says what a sum may lack: requests that may match its filter too, at most. */
export const useMayMatch = () => {
  const format = useMoney();
  return (of: MayAlsoMatch | null): string =>
    of === null ? 'nothing more' : moreRequestsText(of, formatWhole, format);
};

/** A count, such as of tokens, in short form; hovering shows the whole number. */
export const Count = ({ of, unit = '' }: { readonly of: number | null; readonly unit?: string }) =>
  of === null ? (
    <span className="dim">–</span>
  ) : (
    <span className="num" title={`${formatExact(of)} ${unit}`.trim()}>
      {formatCount(of)}
    </span>
  );

const Ago = ({ iso }: Pick<InstantProps, 'iso'>) => {
  useEvery(MINUTE_MS);
  return formatAgo(iso);
};

interface InstantProps {
  readonly iso: string;
  readonly ago?: boolean;
  readonly day?: boolean;
}

/** An instant in the user's time zone, or its day; hovering shows the seconds. */
export const Instant = ({ iso, ago = false, day = false }: InstantProps) => (
  <time className="num" dateTime={iso} title={formatInstant(iso)}>
    {ago ? <Ago iso={iso} /> : day ? formatDay(iso) : formatShortInstant(iso)}
  </time>
);

export const LastUsed = ({ at }: { readonly at: string | null }) =>
  at ? <Instant iso={at} ago /> : <span className="dim">never used</span>;
