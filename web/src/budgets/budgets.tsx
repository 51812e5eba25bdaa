import { Badge, Skeleton, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronRight, Plus, Wallet } from 'lucide-react';
import type { Budget } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { ButtonLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyProblem } from '../components/notify.ts';
import { formatPercent } from '../format/quantity.ts';
import { useReload } from '../forms/use-save.ts';
import { Pauses } from '../pauses/pauses.tsx';
import { useMe } from '../session/permissions.ts';
import type { KeyNames } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './budgets.module.css';
import { budgetText } from './names.ts';
import { useBudgets } from './use-budgets.ts';
import { Used } from './used.tsx';

const Effect = ({ budget: { block, state } }: { readonly budget: Budget }) => {
  if (state.isBlocking)
    return (
      <Badge color="red" variant="light" tt="none">
        Requests refused
      </Badge>
    );
  return (
    <span className="dim small">{block ? `Refuses requests at ${formatPercent(block.atPercent)}` : 'Warns only'}</span>
  );
};

const BudgetRow = ({ budget, keyNames }: { readonly budget: Budget; readonly keyNames: KeyNames }) => {
  const { may } = useMe();
  const reload = useReload('/budgets');
  const update = useApi().useMutation('patch', '/budgets/{id}', {
    onError: notifyProblem('The budget was not changed'),
    onSettled: () => reload(),
  });
  const { id, name, isActive } = budget;
  return (
    <li className={classes['budget']} data-off={!isActive || undefined}>
      <div className={classes['head']}>
        {may('rules:write') && (
          <Switch
            withThumbIndicator={false}
            checked={update.isPending ? (update.variables.body.isActive ?? isActive) : isActive}
            aria-label={`${name} is on`}
            onChange={({ currentTarget }) =>
              update.mutate({ params: { path: { id } }, body: { isActive: currentTarget.checked } })
            }
          />
        )}
        <Link to="/budgets/$budgetId" params={{ budgetId: id }} className={classes['text']}>
          <strong>{name}</strong>
          <span className="dim small">{budgetText(budget, keyNames)}</span>
        </Link>
        {isActive ? <Effect budget={budget} /> : <span className="dim small">Off</span>}
        <ChevronRight size={16} className="dim" aria-hidden />
      </div>
      <Used budget={budget} />
    </li>
  );
};

export const Budgets = () => {
  const { may } = useMe();
  const keyNames = useKeyNames();
  const query = useBudgets();
  const { data, error } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Budgets</Heading>
          <p>
            Amounts for a period. A budget warns at percentages, and refuses requests when it is used up if you want.
          </p>
        </div>
        {may('rules:write') && (
          <ButtonLink to="/budgets/new" leftSection={<Plus size={16} />}>
            New budget
          </ButtonLink>
        )}
      </div>
      <LoadProblem query={query} title="The budgets could not be loaded" />
      {!data && !error && <Skeleton height={220} radius="lg" />}
      {data?.items.length === 0 && (
        <section className="card">
          <EmptyState
            icon={Wallet}
            title="No budgets yet"
            action={
              may('rules:write') && (
                <ButtonLink variant="light" size="xs" to="/budgets/new">
                  Set a monthly budget
                </ButtonLink>
              )
            }
          >
            Without a budget that says so, no request is ever refused.
          </EmptyState>
        </section>
      )}
      {data && data.items.length > 0 && (
        <ul className={`card ${classes['budgets']}`}>
          {data.items.map((budget) => (
            <BudgetRow key={budget.id} budget={budget} keyNames={keyNames} />
          ))}
        </ul>
      )}
      <Pauses />
    </div>
  );
};
