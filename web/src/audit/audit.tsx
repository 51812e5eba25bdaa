import { Button } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import type { AuditEntry } from '../api/responses.ts';
import { Instant } from '../components/amount.tsx';
import { ListPage } from '../components/page.tsx';
import { type Column, Table, TwoLines } from '../components/table.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { usePages } from '../components/use-pages.ts';
import { ListDays } from '../spend/custom-days.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { actionText, detailsText } from './texts.ts';

const PAGE = 50;

const Details = ({ entry }: { readonly entry: AuditEntry }) => detailsText(entry, useKeyNames());

const byText = ({ actor, clientAddress }: AuditEntry) =>
  `by ${actor?.name ?? 'the service'}${clientAddress ? ` from ${clientAddress}` : ''}`;

const columns: readonly Column<AuditEntry>[] = [
  { head: 'When', cell: ({ at }) => <Instant iso={at} /> },
  {
    head: 'What',
    className: 'wraps',
    cell: (entry) => (
      <TwoLines second={<Details entry={entry} />}>
        {actionText(entry.action)} <span className="dim">{byText(entry)}</span>
      </TwoLines>
    ),
  },
];

export const Audit = () => {
  const { search, change } = usePageSearch('/members/audit');
  const query = usePages('/audit', { ...search, limit: PAGE });
  const { isEmpty, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  return (
    <ListPage
      title="Audit log"
      about="Who changed what, when and from where, in the last 30 days or in those you choose."
      actions={<ListDays search={search} onChange={change} />}
      query={query}
    >
      <Table
        label="Audit log"
        columns={columns}
        query={query}
        empty={
          isEmpty && {
            icon: ScrollText,
            title: 'No entries',
            text: 'Sign-ins and changes of members, keys, rules and the plan appear here.',
          }
        }
      />
      {hasNextPage && (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Older entries
        </Button>
      )}
    </ListPage>
  );
};
