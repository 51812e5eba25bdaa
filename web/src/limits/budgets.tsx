import { Badge } from '@mantine/core';
import { Wallet } from 'lucide-react';
import type { Budget } from '../api/responses.ts';
import { formatPercent } from '../format/quantity.ts';
import { ItemList, ItemRow } from '../forms/item-list.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { budgetText } from './names.ts';
import { Pauses } from './pauses.tsx';
import { useBudgets } from './use-budgets.ts';
import { Used } from './used.tsx';

const Effect = ({ budget: { isActive, block, state } }: { readonly budget: Budget }) => {
  if (!isActive) return <span className="dim small">Off</span>;
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

export const Budgets = () => {
  const keyNames = useKeyNames();
  return (
    <ItemList
      collection="/budgets"
      query={useBudgets()}
      about="Amounts for a period. A budget warns at percentages, and refuses requests when it is used up if you want."
      empty={{
        icon: Wallet,
        text: 'Without a budget that says so, no request is ever refused.',
        action: 'Set a monthly budget',
      }}
      row={(budget) => (
        <ItemRow
          key={budget.id}
          collection="/budgets"
          item={budget}
          link={{ to: '/budgets/$budgetId', params: { budgetId: budget.id } }}
          about={budgetText(budget, keyNames)}
          below={<Used budget={budget} />}
        >
          <Effect budget={budget} />
        </ItemRow>
      )}
    >
      <Pauses />
    </ItemList>
  );
};
