import { Box, Text } from '@mantine/core';
import { ReceiptText } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { Reconciliation } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant, Money, Unpriced, useMoney } from '../components/amount.tsx';
import { EmptyCard, Loaded } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { plural } from '../format/numbers.ts';
import { utcDayText } from '../format/time.ts';
import { providerName } from '../providers/names.ts';
import { bucketTexts, summaryText } from './buckets.ts';

const FINDINGS_SHOWN = 50;

const Recorded = ({ of: { recordedNanoUsd, unpricedRequests } }: { readonly of: Reconciliation }) => (
  <>
    <Money nano={knownCost(recordedNanoUsd, unpricedRequests)} /> <Unpriced of={unpricedRequests} />
  </>
);

interface BucketRow {
  readonly name: string;
  readonly about?: string;
  readonly amount: ReactNode;
}

const SUM = 'Billed';

const bucketColumns: readonly Column<BucketRow>[] = [
  {
    head: 'From the record to the bill',
    cell: ({ name, about }) => (
      <>
        {name}
        {about && <div className="dim small">{about}</div>}
      </>
    ),
  },
  { head: 'Amount', className: 'right', cell: ({ amount }) => amount },
];

const Buckets = ({ compared }: { readonly compared: Reconciliation }) => (
  <Table
    label="Differences"
    columns={bucketColumns}
    items={[
      { name: 'On record, at effective prices', amount: <Recorded of={compared} /> },
      ...compared.differences.map(({ bucket, amountNanoUsd }) => {
        const [name, about] = bucketTexts[bucket];
        return { name, about, amount: <Money nano={amountNanoUsd} /> };
      }),
      { name: SUM, amount: <Money nano={compared.billedNanoUsd} /> },
    ]}
    keyOf={({ name }) => name}
    rowClassName={({ name }) => (name === SUM ? 'total' : undefined)}
  />
);

type Finding = Reconciliation['findings'][number];

const findingColumns: readonly Column<Finding>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => utcDayText(day) },
  { head: 'Model or item', cell: ({ model, item }) => model ?? item ?? <span className="dim">no model</span> },
  { head: 'Difference', cell: ({ bucket }) => bucketTexts[bucket][0] },
  { head: 'Billed − recorded', className: 'right', cell: ({ amountNanoUsd }) => <Money nano={amountNanoUsd} /> },
];

const Findings = ({ findings }: Pick<Reconciliation, 'findings'>) => (
  <Table
    label="Differences by day and model"
    columns={findingColumns}
    items={findings.slice(0, FINDINGS_SHOWN)}
    keyOf={(finding) => JSON.stringify(finding)}
    lastRow={
      findings.length > FINDINGS_SHOWN && `${plural(findings.length - FINDINGS_SHOWN, 'smaller difference')} more`
    }
  />
);

const Compared = ({ compared }: { readonly compared: Reconciliation }) => {
  const { may } = useMe();
  const format = useMoney();
  if (compared.billedDays === 0)
    return (
      <EmptyCard
        icon={ReceiptText}
        title={`No bill of ${providerName(compared.provider)} for these days`}
        text={
          <>
            <Recorded of={compared} /> is on record.{may('bills:write') && ' Connect the bill, or import an invoice.'}
          </>
        }
      />
    );
  return (
    <>
      <section className="card card-pad" aria-label="Summary">
        <Text component="p" maw="70ch" fz={19} fw={560} lh={1.4}>
          {summaryText(compared, format)}
        </Text>
        <p className="dim small">
          {plural(compared.billedDays, 'day')} billed
          {compared.readAt && (
            <>
              , last read <Instant iso={compared.readAt} ago />
            </>
          )}
        </p>
      </section>
      <Box className="columns halves" __vars={{ '--columns': 'minmax(0, 2fr) minmax(0, 3fr)' }}>
        <Buckets compared={compared} />
        {compared.findings.length > 0 && <Findings findings={compared.findings} />}
      </Box>
    </>
  );
};

interface ComparisonProps {
  readonly provider: ProviderLabel;
  readonly from: string;
  readonly to: string;
}

export const Comparison = ({ provider, from, to }: ComparisonProps) => {
  const query = useApi().useQuery('get', '/reconciliation/{provider}', {
    params: { path: { provider }, query: { from, to } },
  });
  return (
    <Loaded query={query} title="The bill could not be compared" height={260}>
      {(compared) => <Compared compared={compared} />}
    </Loaded>
  );
};
