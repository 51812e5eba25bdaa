import { ArrowDownRight, ArrowRight, ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { relativeChange } from '../../../lambda/domain/spend/known-cost.ts';
import type { SpendChange } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { type Costs, exactMoney, formatCompact, formatShare, shownCosts } from '../format/numbers.ts';
import { formatShortInstant } from '../format/time.ts';

/** Above this ratio a change is shown as a factor: percentages get hard to read. */
const FACTOR_FROM = 9;

/** The relative change of a cost, in the currency that is shown. It has no colour: more is not always bad. */
export const Change = ({ of, code }: { readonly of: Costs; readonly code: string | null | undefined }) => {
  const { before, now } = shownCosts(of, code);
  const change =
    before?.decimal != null && now?.decimal != null
      ? relativeChange(Number(now.decimal) * 1e9, Number(before.decimal) * 1e9)
      : relativeChange(of.costNanoUsd, of.costBeforeNanoUsd);
  if (change === null) return null;
  const Icon = Math.abs(change) < 0.005 ? ArrowRight : change > 0 ? ArrowUpRight : ArrowDownRight;
  return (
    <span className="num change" title={`Before: ${exactMoney(of.costBeforeNanoUsd)}`}>
      <Icon size={14} aria-hidden />
      {change >= FACTOR_FROM
        ? `${formatCompact(change + 1)}×`
        : `${change > 0 ? '+' : change < 0 ? '−' : ''}${formatShare(Math.abs(change))}`}
    </span>
  );
};

interface AgainstProps {
  readonly of: SpendChange;
  /** The cost next to which it stands. */
  readonly shownNano: number | null;
  readonly code: string | undefined;
  readonly children: ReactNode;
}

/** How a period compares with the one before it. A running one is compared up to its last whole hour: that cost is named where it differs. */
export const Against = ({ of: { totals, to }, shownNano, code, children }: AgainstProps) => {
  const shown = shownCosts(totals, code);
  return (
    <>
      {totals.costNanoUsd !== shownNano && (
        <>
          <Money nano={totals.costNanoUsd} shown={shown.now} /> until {formatShortInstant(to)},{' '}
        </>
      )}
      <Change of={totals} code={code} /> vs <Money nano={totals.costBeforeNanoUsd} shown={shown.before} /> {children}
    </>
  );
};
