import { Group, Progress } from '@mantine/core';
import type { Budget } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { formatPercent, plural } from '../format/quantity.ts';
import { outsideText } from './names.ts';

const toneOf = ({ isActive, notifyAt, state: { percentUsed, isBlocking } }: Budget) => {
  if (!isActive) return 'gray';
  if (isBlocking || percentUsed >= 100) return 'red';
  return percentUsed >= Math.min(100, ...notifyAt) ? 'yellow' : 'teal';
};

/** The use of a budget, as a bar and in figures. */
export const Used = ({ budget }: { readonly budget: Budget }) => {
  const { state, name } = budget;
  const { period, usedNanoUsd, remainingNanoUsd, percentUsed, projectedNanoUsd, unpricedRequests } = state;
  if (period === null) return <p className="dim small">{outsideText(budget)}</p>;
  return (
    <div>
      <Progress
        value={Math.min(100, percentUsed)}
        color={toneOf(budget)}
        size="md"
        aria-label={`${name}: ${formatPercent(percentUsed)} used`}
      />
      <Group gap="2px 16px" mt={7} className="small">
        <span>
          <strong className="num">{formatPercent(percentUsed)}</strong> used: <Money nano={usedNanoUsd} />
        </span>
        <span className="dim">
          {remainingNanoUsd < 0 ? (
            <>
              <Money nano={-remainingNanoUsd} /> over
            </>
          ) : (
            <>
              <Money nano={remainingNanoUsd} /> remaining
            </>
          )}
        </span>
        <span className="dim">
          {projectedNanoUsd === null ? (
            'too early for a projection'
          ) : (
            <>
              on course for ≈ <Money nano={projectedNanoUsd} as="rough" />
            </>
          )}
        </span>
        {unpricedRequests > 0 && (
          <span className="unknown">+ {plural(unpricedRequests, 'request')} of unknown cost</span>
        )}
      </Group>
    </div>
  );
};
