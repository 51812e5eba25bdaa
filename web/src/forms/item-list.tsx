import { Group, Switch } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronRight, type LucideIcon, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useMe } from '../app.ts';
import { ButtonLink, ListPage } from '../components/page.tsx';
import { capital, collections, listOf } from './collections.ts';
import classes from './item-list.module.css';

/** Collections with items that are switched on and off, and edited on pages of their own. */
type Switched = '/alert-rules' | '/budgets' | '/reports';

interface ItemRowProps {
  readonly collection: Switched;
  readonly item: { readonly id: string; readonly name: string; readonly isActive: boolean };
  readonly link: Pick<LinkProps, 'to' | 'params'>;
  readonly about: string;
  readonly children: ReactNode;
  readonly below?: ReactNode;
}

export const ItemRow = ({ collection, item: { id, name, isActive }, link, about, children, below }: ItemRowProps) => {
  const { may } = useMe();
  const { noun, needs } = collections[collection];
  const update = useApi().useMutation('patch', `${collection}/{id}` as '/budgets/{id}', {
    meta: { failure: `The ${noun} was not changed` },
  });
  return (
    <li className={classes['item']} data-off={!isActive || undefined}>
      <Group gap="4px 16px">
        <Switch
          disabled={!may(needs)}
          checked={update.isPending ? (update.variables.body.isActive ?? isActive) : isActive}
          aria-label={`${name} is on`}
          onChange={({ currentTarget }) =>
            update.mutate({ params: { path: { id } }, body: { isActive: currentTarget.checked } })
          }
        />
        <Link {...link} className={`${classes['text']} whole-row`}>
          <strong>{name}</strong>
          <span className="dim small">{about}</span>
        </Link>
        {children}
        <ChevronRight size={16} className="dim wide-only" aria-hidden />
      </Group>
      {below}
    </li>
  );
};

export const ItemList = <Item,>({
  collection,
  query,
  about,
  empty,
  row,
  children,
}: {
  readonly collection: Switched;
  readonly query: UseQueryResult<
    { readonly items: readonly Item[]; readonly unreadable?: number | undefined },
    unknown
  >;
  readonly about: string;
  /** Text of the page without an item, and the label of the button that makes the first. */
  readonly empty: { readonly icon: LucideIcon; readonly text: string; readonly action: string };
  readonly row: (item: Item) => ReactNode;
  readonly children?: ReactNode;
}) => {
  const { may } = useMe();
  const { page: noun, needs } = collections[collection];
  const items = query.data?.items;
  const add = may(needs) && `${listOf(collection)}/new`;
  return (
    <ListPage
      skeleton
      title={`${capital(noun)}s`}
      about={about}
      query={query}
      actions={add && <ButtonLink to={add} leftSection={<Plus size={16} />}>{`New ${noun}`}</ButtonLink>}
      empty={
        items?.length === 0 && {
          ...empty,
          title: `No ${noun}s yet`,
          action: add && (
            <ButtonLink variant="light" size="xs" to={add}>
              {empty.action}
            </ButtonLink>
          ),
        }
      }
    >
      {items && items.length > 0 && <ul className={`card ${classes['items']}`}>{items.map(row)}</ul>}
      {/* It is below the list, so that it does not move when the list is loaded. */}
      {items || query.error ? children : null}
    </ListPage>
  );
};
