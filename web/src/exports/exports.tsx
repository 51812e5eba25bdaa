import { Anchor, Code, NativeSelect, Skeleton } from '@mantine/core';
import { PackageOpen } from 'lucide-react';
import { useState } from 'react';
import { useApi, useApp } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { Section } from '../components/section.tsx';
import { formatBytes, formatWhole, plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';

/** Links end after 15 minutes. */
const REFRESH_MS = 10 * 60_000;

const datasets = { 'cost-and-usage': 'Charges (FOCUS 1.2)', requests: 'Requests' } as const;
const formats = [
  { value: 'parquet', label: 'Parquet' },
  { value: 'csv', label: 'CSV, gzipped' },
];

/** How programs get the same files. */
const Setup = () => {
  const { settings } = useApp();
  return (
    <Section
      title="By program"
      about="List days and download them with an API token, load them into a warehouse, or query them where they are."
    >
      <p className="small">
        <AnchorLink to="/tokens" underline="always" inherit>
          Create an API token
        </AnchorLink>{' '}
        with the role viewer, then:
      </p>
      <Code
        block
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >{`curl "${new URL(settings.apiUrl, location.href)}/machine/exports?format=parquet" \\
  -H "Authorization: Bearer sat_…"`}</Code>
      <p className="dim small">
        Each item has a link that works for 15 minutes. On AWS the same files are tables in Athena.
      </p>
    </Section>
  );
};

export const Exports = () => {
  const [format, setFormat] = useState<'parquet' | 'csv'>('parquet');
  const query = useApi().useQuery(
    'get',
    '/exports',
    { params: { query: { format } } },
    { refetchInterval: REFRESH_MS },
  );
  const { data, error } = query;
  const items = data?.items.toReversed() ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Exports</Heading>
          <p>
            The last 30 days as files. A day is there an hour after its end (UTC), and again when a late event or a new
            price changes it.
          </p>
        </div>
        <NativeSelect
          aria-label="Format"
          data={formats}
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value as 'parquet' | 'csv')}
        />
      </div>
      <LoadProblem query={query} title="The exports could not be loaded" />
      {!data && !error && <Skeleton height={220} radius="lg" />}
      {data && items.length === 0 && (
        <section className="card">
          <EmptyState icon={PackageOpen} title="No day exported yet">
            The first day with requests is here an hour after its end (UTC).
          </EmptyState>
        </section>
      )}
      {items.length > 0 && (
        <ScrollRegion className="card scroll-x" label="Exported days">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Day (UTC)</th>
                <th>What</th>
                <th className="right wide-only">Rows</th>
                <th className="right wide-only">Cost</th>
                <th className="wide-only">Exported</th>
                <th className="right">File</th>
              </tr>
            </thead>
            <tbody>
              {items.map(({ day, dataset, rows, bytes, costNanoUsd, unpricedRequests, exportedAt, url }) => (
                <tr key={`${day} ${dataset}`}>
                  <td>{utcDayText(day)}</td>
                  <td>{datasets[dataset]}</td>
                  <td className="right num wide-only">{formatWhole(rows)}</td>
                  <td className="right wide-only">
                    <Money nano={costNanoUsd} />
                    {unpricedRequests > 0 && (
                      <>
                        <br />
                        <span className="unknown small">+ {plural(unpricedRequests, 'request')} of unknown cost</span>
                      </>
                    )}
                  </td>
                  <td className="wide-only">
                    <Instant iso={exportedAt} />
                  </td>
                  <td className="right">
                    <Anchor
                      href={url}
                      inherit
                      underline="always"
                      aria-label={`${formatBytes(bytes)}: download ${datasets[dataset]} of ${day}`}
                    >
                      {formatBytes(bytes)}
                    </Anchor>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      <Setup />
    </div>
  );
};
