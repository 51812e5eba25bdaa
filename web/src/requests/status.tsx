import { Text } from '@mantine/core';
import type { RequestSummary } from '../api/responses.ts';
import { outcomeNames } from './names.ts';

/** The provider's HTTP status, or the outcome where the request did not complete. */
export const Status = ({
  request: { outcome, status },
}: {
  readonly request: Pick<RequestSummary, 'outcome' | 'status'>;
}) => {
  const isGood = outcome === 'completed' && status !== null && status < 400;
  const color = isGood ? 'good' : outcome === 'unknown' || outcome === 'client_aborted' ? 'dim' : 'bad';
  return (
    <Text span className="num" fz={13} fw={550} c={`var(--${color})`}>
      {outcome === 'completed' && status !== null ? status : outcomeNames[outcome]}
    </Text>
  );
};
