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
