import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import type { Budget } from '../api/responses.ts';
import { EditorForm, EditorPage, LoadedItem } from '../forms/editor.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { BudgetFields } from './budget-fields.tsx';
import { type BudgetValues, bodyOf, budgetProblems, emptyBudget, valuesOf } from './budget-form.ts';
import { BudgetState } from './budget-state.tsx';
import { budgetText } from './names.ts';
import { TestChannels } from './test-channels.tsx';
import { useBudgets } from './use-budgets.ts';

const BudgetForm = ({ budget }: { readonly budget?: Budget }) => {
  const form = useForm<BudgetValues>({
    initialValues: budget ? valuesOf(budget) : emptyBudget,
    validate: budgetProblems,
  });
  return (
    <EditorForm
      collection="/budgets"
      item={budget}
      form={form}
      bodyOf={bodyOf}
      actions={budget && <TestChannels stored={budget} />}
    >
      <BudgetFields form={form} />
    </EditorForm>
  );
};

export const NewBudget = () => (
  <EditorPage collection="/budgets" title="New budget" about="What was spent earlier in the current period counts.">
    <BudgetForm />
  </EditorPage>
);

export const EditBudget = () => {
  const { budgetId } = getRouteApi('/members/budgets/$budgetId').useParams();
  const query = useBudgets();
  const keyNames = useKeyNames();
  return (
    <LoadedItem collection="/budgets" query={query} item={query.data?.items.find(({ id }) => id === budgetId)}>
      {(budget) => (
        <EditorPage
          collection="/budgets"
          title={budget.name}
          about={budgetText(budget, keyNames)}
          query={query}
          side={<BudgetState budget={budget} />}
        >
          <BudgetForm key={budget.id} budget={budget} />
        </EditorPage>
      )}
    </LoadedItem>
  );
};
