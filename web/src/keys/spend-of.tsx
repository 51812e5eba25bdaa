import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useMe } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { LimitLink, TextLink } from '../components/links.tsx';
import { shownIn } from '../format/money.ts';
import { formatPercent } from '../format/quantity.ts';
import { utcDate } from '../format/time.ts';
import { useBudgets } from '../limits/use-limits.ts';
import { useSpend } from '../spend/use-spend.ts';

const DAYS = 30;
const MAX_GROUPS = 1_000;

/** A link with the spend of a key or project in the last 30 days, and the budget that is only for it. */
export const SpendOf = ({ by, id }: { readonly by: 'key' | 'project'; readonly id: string }) => {
  const { may } = useMe();
  const from = utcDate(new Date(Date.now() - (DAYS - 1) * DAY_MS));
  const to = utcDate(new Date());
  const { data } = useSpend(
    { from, to, granularity: 'day', groupBy: [by], limit: MAX_GROUPS },
    { enabled: may('spend:read') },
  );
  const { data: budgets } = useBudgets();
  const budget = budgets?.items.find(({ filter }) => filter && filter[by] === id && Object.keys(filter).length === 1);
  if (!data) return null;
  const group = data.groups.find((each) => each[by] === id);
  // Without a group there was no spend, if all groups are there.
  const none = data.otherGroups ? null : 0;
  return (
    <>
      <TextLink to="/" search={{ [by]: [id], range: 'custom', from, to }}>
        <Money nano={group ? group.costNanoUsd : none} shown={group && shownIn(group, data.displayCurrency?.code)} />
      </TextLink>
      {!budget && budgets && may('rules:write') && (
        <div className="small">
          <TextLink to="/limits/new" search={{ type: 'budget', [by]: id }}>
            Set a limit
          </TextLink>
        </div>
      )}
      {budget && (
        <div className="dim small">
          <LimitLink id={budget.id}>
            {budget.state.percentUsed !== null && `${formatPercent(budget.state.percentUsed)} of `}
            {budget.name}
          </LimitLink>
        </div>
      )}
    </>
  );
};
