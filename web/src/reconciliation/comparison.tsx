import { Box, Skeleton } from '@mantine/core';
import { ReceiptText } from 'lucide-react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import type { Reconciliation } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { type Column, Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';
import { providerName } from '../providers/names.ts';
import { bucketTexts, summaryText } from './buckets.ts';
import classes from './reconciliation.module.css';

const FINDINGS_SHOWN = 50;

const Buckets = ({ compared }: { readonly compared: Reconciliation }) => (
  <ScrollRegion className="card scroll-x" label="Differences">
    <table className="grid-table">
      <tbody>
        <tr>
          <td>On record, at effective prices</td>
          <td className="right">
            <Money nano={compared.recordedNanoUsd} />
          </td>
        </tr>
        {compared.differences.map(({ bucket, amountNanoUsd }) => {
          const [name, about] = bucketTexts[bucket];
          return (
            <tr key={bucket}>
              <td>
                {name}
                <br />
                <span className="dim small">{about}</span>
              </td>
              <td className="right">
                <Money nano={amountNanoUsd} />
              </td>
            </tr>
          );
        })}
        <tr className={classes['sum']}>
          <td>Billed</td>
          <td className="right">
            <Money nano={compared.billedNanoUsd} />
          </td>
        </tr>
      </tbody>
    </table>
  </ScrollRegion>
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
        <p className={classes['summary']}>{summaryText(data)}</p>
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
