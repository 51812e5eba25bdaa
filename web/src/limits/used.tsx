import { Group, Progress } from '@mantine/core';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { Budget } from '../api/responses.ts';
import { Money, Unpriced } from '../components/amount.tsx';
import { formatPercent, formatShare } from '../format/numbers.ts';
import { eachText, outsideText } from './names.ts';

const toneOf = ({ isActive, notifyAt, state: { isBlocking } }: Budget, percentUsed: number) => {
  if (!isActive) return 'gray';
  if (isBlocking || percentUsed >= 100) return 'red';
  return percentUsed >= Math.min(100, ...notifyAt) ? 'yellow' : 'teal';
};

/** How much of a budget is used: `38%`. The API rounds down, but only of nothing is it `0%`. */
export const usedText = ({ state: { percentUsed, usedNanoUsd, unpricedRequests } }: Budget): string => {
  if (knownCost(usedNanoUsd, unpricedRequests) === null) return 'unknown';
  return percentUsed === 0 && usedNanoUsd > 0 ? formatShare(0.001) : formatPercent(percentUsed ?? 0);
};

interface UsedBarProps {
  readonly name: string;
  readonly percent: number | null;
  readonly text?: string;
  readonly color?: string;
}

/** How much of an amount is used. Nothing where there is none. */
export const UsedBar = ({ name, percent, text, color }: UsedBarProps) =>
  percent !== null && (
    <Progress
      mt={4}
      value={Math.min(100, percent)}
      color={color ?? (percent >= 100 ? 'red' : 'teal')}
      aria-label={`${name}: ${text ?? formatPercent(percent)} used`}
    />
  );

export const Left = ({ nano }: { readonly nano: number }) => (
  <span className="dim">
    <Money nano={Math.abs(nano)} /> {nano < 0 ? 'over' : 'remaining'}
  </span>
);

export const OnCourse = ({ nano }: { readonly nano: number | null }) =>
  nano === null ? (
    'no projection yet'
  ) : (
    <>
      on course for ≈ <Money nano={nano} as="rough" />
    </>
  );

export const Used = ({ budget }: { readonly budget: Budget }) => {
  const { state, name } = budget;
  const { period, usedNanoUsd, remainingNanoUsd, percentUsed, projectedNanoUsd, unpricedRequests } = state;
  const used = knownCost(usedNanoUsd, unpricedRequests);
  if (period === null) return <p className="dim small">{outsideText(budget)}</p>;
  if (percentUsed === null || remainingNanoUsd === null)
    return (
      <p className="small">
        For each {eachText(budget.each)}; together <Money nano={used} /> <Unpriced of={unpricedRequests} />
      </p>
    );
  return (
    <div>
      <UsedBar name={name} percent={percentUsed} text={usedText(budget)} color={toneOf(budget, percentUsed)} />
      <Group gap="2px 16px" mt={7} className="small">
        <span>
          {used !== null && <strong className="num">{usedText(budget)}</strong>} used: <Money nano={used} />
        </span>
        <Left nano={remainingNanoUsd} />
        <span className="dim">
          <OnCourse nano={projectedNanoUsd} />
        </span>
        <Unpriced of={unpricedRequests} />
      </Group>
    </div>
  );
};
