import { Text } from '@mantine/core';
import type { RequestSummary } from '../api/responses.ts';

type Outcome = RequestSummary['outcome'];
type Provenance = RequestSummary['provenance'];

export const outcomeNames: Readonly<Record<Outcome, string>> = {
  completed: 'Completed',
  client_aborted: 'Client disconnected',
  upstream_aborted: 'Interrupted',
  unreachable: 'Unreachable',
  refused: 'Refused',
  unknown: 'Unfinished',
};

export const provenanceNames: Readonly<Record<Provenance, string>> = {
  provider: 'Reported by the provider',
  computed: 'Computed from usage',
  estimated: 'Estimated',
  free: 'Free of charge',
  unknown: 'Unknown',
};

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
