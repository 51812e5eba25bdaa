import { Anchor, Code, NativeSelect } from '@mantine/core';
import { PackageOpen } from 'lucide-react';
import { useState } from 'react';
import type { ExportedDay } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
import { ListPage } from '../components/list-page.tsx';
import { Section } from '../components/section.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatBytes, formatWhole, plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';

/** Links end after 15 minutes. */
const REFRESH_MS = 10 * 60_000;

const datasets = { 'cost-and-usage': 'Charges (FOCUS 1.2)', requests: 'Requests' } as const;
const formats = [
  { value: 'parquet', label: 'Parquet' },
  { value: 'csv', label: 'CSV, gzipped' },
];

const columns: readonly Column<ExportedDay>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => utcDayText(day) },
  { head: 'What', cell: ({ dataset }) => datasets[dataset] },
  { head: 'Rows', className: 'right num wide-only', cell: ({ rows }) => formatWhole(rows) },
  {
    head: 'Cost',
    className: 'right wide-only',
    cell: ({ costNanoUsd, unpricedRequests }) => (
      <>
        <Money nano={costNanoUsd} />
        {unpricedRequests > 0 && (
          <>
            <br />
            <span className="unknown small">+ {plural(unpricedRequests, 'request')} of unknown cost</span>
          </>
        )}
      </>
    ),
  },
  { head: 'Exported', className: 'wide-only', cell: ({ exportedAt }) => <Instant iso={exportedAt} /> },
  {
    head: 'File',
    className: 'right',
    cell: ({ day, dataset, bytes, url }) => (
      <Anchor
        href={url}
        inherit
        underline="always"
        aria-label={`${formatBytes(bytes)}: download ${datasets[dataset]} of ${day}`}
      >
        {formatBytes(bytes)}
      </Anchor>
    ),
  },
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
        <TextLink to="/tokens">Create an API token</TextLink> with the role viewer, then:
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
  return (
    <ListPage
      title="Exports"
      about="The last 30 days as files. A day is there an hour after its end (UTC), and again when a late event or a new price changes it."
      actions={
        <NativeSelect
          aria-label="Format"
          data={formats}
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value as 'parquet' | 'csv')}
        />
      }
      query={query}
      things="exports"
    >
      <Table
        label="Exported days"
        columns={columns}
        items={query.data?.items.toReversed()}
        error={query.error}
        keyOf={({ day, dataset }) => `${day} ${dataset}`}
        empty={{
          icon: PackageOpen,
          title: 'No day exported yet',
          text: 'The first day with requests is here an hour after its end (UTC).',
        }}
      />
      <Setup />
    </ListPage>
  );
};
