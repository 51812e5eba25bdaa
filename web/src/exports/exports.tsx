import { Alert, Anchor, NativeSelect } from '@mantine/core';
import { PackageOpen } from 'lucide-react';
import { useState } from 'react';
import type { ExportedDay, WaitingExport } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { CostOf, Instant } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
import { ListPage } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatBytes, formatWhole, plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';
import { choicesOf } from '../forms/fields.ts';
import { Destinations } from './destinations.tsx';

/** Links end after 15 minutes. */
const REFRESH_MS = 10 * 60_000;

const datasets = {
  'cost-and-usage': 'Charges (FOCUS 1.2)',
  requests: 'Requests',
  names: 'Names of keys, projects, members',
} as const;
const formats = choicesOf({ parquet: 'Parquet', csv: 'CSV, gzipped' });

const columns: readonly Column<ExportedDay>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => utcDayText(day) },
  { head: 'What', cell: ({ dataset }) => datasets[dataset] },
  { head: 'Rows', className: 'right num wide-only', cell: ({ rows }) => formatWhole(rows) },
  {
    head: 'Cost',
    className: 'right wide-only',
    cell: ({ costNanoUsd, unpricedRequests }) => <CostOf nano={costNanoUsd} unpriced={unpricedRequests} />,
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

/** Days whose files are missing or stale. */
const Waiting = ({ days }: { readonly days: readonly WaitingExport[] }) => {
  if (days.length === 0) return null;
  const [first, last] = [days[0], days.at(-1)].map((each) => utcDayText(each?.day ?? ''));
  const stale = days.filter(({ isExported }) => isExported).length;
  const late = days.filter(({ isLate }) => isLate).length;
  return (
    <Alert color={late > 0 ? 'red' : 'yellow'} title={`${plural(days.length, 'day')} not exported yet`}>
      {first === last ? `${first}.` : `${first} to ${last}.`}
      {stale > 0 &&
        ` ${plural(stale, 'day')} changed since the export: ${stale === 1 ? 'its file is' : 'their files are'} stale.`}
      {late > 0 && ` ${plural(late, 'day')} due for more than two hours: ask the operator to look at the exporter.`}
    </Alert>
  );
};

export const Exports = () => {
  const { may } = useMe();
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
      about={
        <>
          The last 30 days as files. Each day is available an hour after its end (UTC), and again when a late event or a
          new price changes it. Programs fetch the same files (<TextLink to="/connect">Connect</TextLink>), or hear of
          each day at a destination.
        </>
      }
      actions={
        <NativeSelect
          aria-label="Format"
          data={formats}
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value as 'parquet' | 'csv')}
        />
      }
      query={query}
    >
      <Waiting days={query.data?.waiting ?? []} />
      {may('reports:read') && <Destinations />}
      <Table
        label="Exported days"
        columns={columns}
        items={query.data?.items.toReversed()}
        query={query}
        keyOf={({ day, dataset }) => `${day} ${dataset}`}
        empty={{
          icon: PackageOpen,
          title: 'No day exported yet',
          text:
            query.data?.waiting.length === 0
              ? 'Days that end from now on with requests are here an hour later (UTC).'
              : 'The days above are exported soon.',
        }}
      />
    </ListPage>
  );
};
