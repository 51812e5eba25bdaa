import type { RequestSummary } from '../api/responses.ts';
import { outcomeNames } from './names.ts';
import classes from './requests.module.css';

/** The provider's HTTP status, or the outcome where the request did not complete. */
export const Status = ({
  request: { outcome, status },
}: {
  readonly request: Pick<RequestSummary, 'outcome' | 'status'>;
}) => {
  const isGood = outcome === 'completed' && status !== null && status < 400;
  const tone = isGood ? 'good' : outcome === 'unknown' || outcome === 'client_aborted' ? 'soft' : 'bad';
  return (
    <span className={classes['status']} data-tone={tone}>
      {outcome === 'completed' && status !== null ? status : outcomeNames[outcome]}
    </span>
  );
};
