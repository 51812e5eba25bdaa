import { Button, Group, Modal, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { otherErrors } from '../account/fields.ts';
import type { Budget } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Confirm, type Question } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Unsaved } from '../components/unsaved.tsx';
import { SetByApi } from '../forms/set-by-api.tsx';
import { useReload, useSave } from '../forms/use-save.ts';
import ruleClasses from '../rules/rules.module.css';
import { TestChannels } from '../rules/test-channels.tsx';
import { useMe } from '../session/permissions.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { BudgetFields } from './budget-fields.tsx';
import { type BudgetValues, bodyOf, budgetProblems, emptyBudget, valuesOf } from './budget-form.ts';
import { BudgetState } from './budget-state.tsx';
import { budgetText } from './names.ts';
import { useBudgets } from './use-budgets.ts';

const DeleteButton = ({ budget: { id, name } }: { readonly budget: Budget }) => {
  const navigate = useNavigate();
  const reload = useReload('/budgets');
  const [asking, setAsking] = useState<Question>();
  const remove = useApi().useMutation('delete', '/budgets/{id}', {
    onSuccess: async () => {
      notifyDone(`${name} deleted.`);
      await reload();
      await navigate({ to: '/budgets' });
    },
    onError: (error) => {
      notifyProblem('The budget was not deleted')(error);
      return reload();
    },
  });
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        leftSection={<Trash2 size={15} />}
        loading={remove.isPending}
        onClick={() =>
          setAsking({
            title: 'Delete this budget?',
            text: 'What it refuses passes again within seconds. Its alerts are kept.',
            action: 'Delete the budget',
            onConfirm: () => remove.mutate({ params: { path: { id } } }),
          })
        }
      >
        Delete
      </Button>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </>
  );
};

const BudgetForm = ({ budget }: { readonly budget?: Budget | undefined }) => {
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const form = useForm<BudgetValues>({
    initialValues: budget ? valuesOf(budget) : emptyBudget,
    validate: budgetProblems as never,
  });
  const isDone = useRef(false);
  const leave = () => {
    isDone.current = true;
    void navigate({ to: '/budgets' });
  };
  const { save, error, isPending } = useSave({
    collection: '/budgets',
    id: budget?.id,
    noun: 'Budget',
    form,
    bodyOf,
    onSaved: (given) => {
      isDone.current = true;
      if (given) setSecret(given);
      else leave();
    },
  });
  const fields = Object.keys(form.values);
  return (
    <form noValidate className="card card-pad" onSubmit={form.onSubmit(save)}>
      <Stack gap="lg">
        <BudgetFields form={form} />
        {budget && <SetByApi item={budget} shown={bodyOf(valuesOf(budget))} />}
        {error && (
          <ProblemNote error={error} details={otherErrors(error, ...fields)} title="The budget was not saved" />
        )}
        <Group justify="space-between">
          <Group>
            <Button type="submit" loading={isPending}>
              {budget ? 'Save' : 'Create the budget'}
            </Button>
            <Button variant="default" onClick={leave}>
              Cancel
            </Button>
          </Group>
          {budget && (
            <Group>
              <TestChannels stored={budget} />
              <DeleteButton budget={budget} />
            </Group>
          )}
        </Group>
      </Stack>
      <Unsaved isDirty={() => form.isDirty() && !isDone.current} />
      <Modal opened={secret !== undefined} onClose={leave} title="The webhook’s secret">
        {secret && (
          <ShownOnce secret={secret} what="secret" onClose={leave}>
            Webhooks are signed with this secret, so that you can verify them. It is shown only once.
          </ShownOnce>
        )}
      </Modal>
    </form>
  );
};

const BackLink = () => (
  <AnchorLink to="/budgets" size="sm" className={ruleClasses['back']}>
    <ArrowLeft size={14} aria-hidden /> All budgets
  </AnchorLink>
);

export const NewBudget = () => (
  <div className="page">
    <div className="page-head">
      <div>
        <BackLink />
        <Heading>New budget</Heading>
        <p>What was spent earlier in the current period counts.</p>
      </div>
    </div>
    <BudgetForm />
  </div>
);

export const EditBudget = () => {
  const { budgetId } = getRouteApi('/members/budgets/$budgetId').useParams();
  const query = useBudgets();
  const { data } = query;
  const { may } = useMe();
  const keyNames = useKeyNames();
  const budget = data?.items.find(({ id }) => id === budgetId);
  if (!budget)
    return (
      <div className="page">
        <BackLink />
        <LoadProblem query={query} title="The budget could not be loaded" />
        {data ? (
          <EmptyState icon={Trash2} title="Budget not found">
            It may have been deleted.
          </EmptyState>
        ) : (
          <Skeleton height={420} radius="lg" />
        )}
      </div>
    );
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <BackLink />
          <Heading>{budget.name}</Heading>
          <p>{budgetText(budget, keyNames)}</p>
        </div>
      </div>
      <div className={ruleClasses['editor']}>
        {may('rules:write') && <BudgetForm key={budget.id} budget={budget} />}
        <div className={ruleClasses['preview']}>
          <BudgetState budget={budget} />
        </div>
      </div>
    </div>
  );
};
