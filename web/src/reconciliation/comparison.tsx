import { Box, Skeleton, Text } from '@mantine/core';
import { ReceiptText } from 'lucide-react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import type { Reconciliation } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { EmptyState, LoadProblem } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';
import { providerName } from '../providers/names.ts';
import { bucketTexts, summaryText } from './buckets.ts';

const FINDINGS_SHOWN = 50;

interface BucketRow {
  readonly name: string;
  readonly about?: string;
  readonly nano: number | null;
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
  { head: 'Amount', className: 'right', cell: ({ nano }) => <Money nano={nano} /> },
];

const Buckets = ({ compared }: { readonly compared: Reconciliation }) => (
  <Table
    label="Differences"
    columns={bucketColumns}
    items={[
      { name: 'On record, at effective prices', nano: compared.recordedNanoUsd },
      ...compared.differences.map(({ bucket, amountNanoUsd: nano }) => {
        const [name, about] = bucketTexts[bucket];
        return { name, about, nano };
      }),
      { name: SUM, nano: compared.billedNanoUsd },
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

interface ComparisonProps {
  readonly provider: ProviderLabel;
  readonly from: string;
  readonly to: string;
}

/** The bill of a provider next to what is on record, for some days. */
export const Comparison = ({ provider, from, to }: ComparisonProps) => {
  const query = useApi().useQuery('get', '/reconciliation/{provider}', {
    params: { path: { provider }, query: { from, to } },
  });
  const { data, error } = query;
  const problem = <LoadProblem query={query} title="The bill could not be compared" />;
  if (!data) return error ? problem : <Skeleton height={260} radius="lg" />;
  if (data.billedDays === 0)
    return (
      <section className="card">
        <EmptyState icon={ReceiptText} title={`No bill of ${providerName(provider)} for these days`}>
          <Money nano={data.recordedNanoUsd} /> is on record. Connect the bill, or import an invoice.
        </EmptyState>
      </section>
    );
  return (
    <>
      {problem}
      <section className="card card-pad" aria-label="Summary">
        <Text component="p" maw="70ch" fz={19} fw={560} lh={1.4}>
          {summaryText(data)}
        </Text>
        <p className="dim small">
          {plural(data.billedDays, 'day')} billed
          {data.readAt && (
            <>
              , last read <Instant iso={data.readAt} ago />
            </>
          )}
        </p>
      </section>
      <Box className="columns halves" __vars={{ '--columns': 'minmax(0, 2fr) minmax(0, 3fr)' }}>
        <Buckets compared={data} />
        {data.findings.length > 0 && <Findings findings={data.findings} />}
      </Box>
    </>
  );
};
