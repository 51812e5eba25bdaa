import { Skeleton } from '@mantine/core';
import { ReceiptText } from 'lucide-react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import type { Reconciliation } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
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

const Findings = ({ findings }: Pick<Reconciliation, 'findings'>) => (
  <ScrollRegion className="card scroll-x" label="Differences by day and model">
    <table className="grid-table">
      <thead>
        <tr>
          <th>Day (UTC)</th>
          <th>Model or item</th>
          <th>Difference</th>
          <th className="right">Billed − recorded</th>
        </tr>
      </thead>
      <tbody>
        {findings.slice(0, FINDINGS_SHOWN).map(({ bucket, day, model, item, amountNanoUsd }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: findings have no name, and do not move
          <tr key={index}>
            <td>{utcDayText(day)}</td>
            <td>{model ?? item ?? <span className="dim">no model</span>}</td>
            <td>{bucketTexts[bucket][0]}</td>
            <td className="right">
              <Money nano={amountNanoUsd} />
            </td>
          </tr>
        ))}
        {findings.length > FINDINGS_SHOWN && (
          <tr>
            <td colSpan={4} className="dim small">
              {plural(findings.length - FINDINGS_SHOWN, 'smaller difference')} more
            </td>
          </tr>
        )}
      </tbody>
    </table>
  </ScrollRegion>
);

/** The bill of a provider next to what is on record, for some days. */
export const Comparison = ({
  provider,
  from,
  to,
}: {
  readonly provider: ProviderLabel;
  readonly from: string;
  readonly to: string;
}) => {
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
      <div className={classes['columns']}>
        <Buckets compared={data} />
        {data.findings.length > 0 && <Findings findings={data.findings} />}
      </div>
    </>
  );
};
