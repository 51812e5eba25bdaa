import { Alert } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { SpendReport } from '../api/responses.ts';
import { formatMoney } from '../format/money.ts';
import { plural } from '../format/quantity.ts';

/** Warns that a filter may match more than the figures have: requests whose names were counted under (other), or are not known. */
const MayAlsoMatch = ({ of: mayAlsoMatch }: { readonly of: NonNullable<SpendReport['mayAlsoMatch']> }) => (
  <Alert
    role="status"
    color="yellow"
    variant="light"
    icon={<TriangleAlert size={18} />}
    title={
      mayAlsoMatch.costNanoUsd === null
        ? `Up to ${plural(mayAlsoMatch.requests, 'more request')} of unknown cost may match the filter`
        : `Up to ${formatMoney(mayAlsoMatch.costNanoUsd)} more may match the filter`
    }
  >
    {plural(mayAlsoMatch.requests, 'request')} had more distinct names than are listed, or came before the dimension was
    declared. The figures on this page do not include them.
  </Alert>
);

export default MayAlsoMatch;
