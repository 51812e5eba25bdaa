import { Alert } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { SpendReport } from '../api/responses.ts';
import { useMayMatch } from '../components/amount.tsx';
import { formatWhole, plural } from '../format/quantity.ts';
import { formatInstants } from '../format/time.ts';

const GAPS_SHOWN = 3;

/** Warns of requests that no figure includes: at most how many, and when. */
export const Untracked = ({ untracked: { requests, gaps } }: Pick<SpendReport, 'untracked'>) => {
  if (requests === 0) return null;
  const latest = gaps.slice(-GAPS_SHOWN).toReversed();
  const earlier = gaps.length - latest.length;
  return (
    <Alert
      role="status"
      color="yellow"
      icon={<TriangleAlert size={18} />}
      title={`Up to ${plural(requests, 'request')} went untracked`}
    >
      They were forwarded while tracking was failing. No figure on this page includes them; filters do not apply.
      <ul>
        {latest.map(({ from, to, requests: count }) => (
          <li key={from}>
            <strong className="num">{formatInstants(from, to)}</strong>{' '}
            <span className="num">up to {formatWhole(count)}</span>
          </li>
        ))}
        {earlier > 0 && <li>and {plural(earlier, 'earlier gap')}</li>}
      </ul>
    </Alert>
  );
};

/** Warns that a filter may match more than the figures have: requests whose names were counted under (other), or are not known. */
export const MayAlsoMatch = ({ of: mayAlsoMatch }: { readonly of: NonNullable<SpendReport['mayAlsoMatch']> }) => {
  const mayMatch = useMayMatch();
  return (
    <Alert
      role="status"
      color="yellow"
      icon={<TriangleAlert size={18} />}
      title={`Up to ${mayMatch(mayAlsoMatch)} may match the filter`}
    >
      {plural(mayAlsoMatch.requests, 'request')} had more distinct names than are listed, or came before the dimension
      was declared. The figures on this page do not include them.
    </Alert>
  );
};
