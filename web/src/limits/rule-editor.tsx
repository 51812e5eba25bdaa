import { Radio } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import type { RuleType } from '../../../lambda/domain/limits/rule.ts';
import type { AlertRule } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { EditorForm, EditorPage, LoadedItem, type Query } from '../forms/editor.tsx';
import { BacktestCard } from './backtest-card.tsx';
import { RuleFields } from './rule-fields.tsx';
import { bodyOf, emptyRule, type RuleValues, ruleProblems, valuesOf, WHOLE, withType } from './rule-form.ts';
import { ruleTypeList, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';
import type { RuleSearch } from './search.ts';
import { TestChannels } from './test-channels.tsx';

/** A rule as a page that links here proposes it. */
const newRule = ({ type, ...filter }: RuleSearch = {}): RuleValues => ({
  ...emptyRule(ruleTypeList.find((each) => each.type === type)?.type ?? 'cost_threshold'),
  ...filter,
});

const Editor = ({
  rule,
  initial,
  query,
}: {
  readonly rule?: AlertRule;
  readonly initial: RuleValues;
  readonly query?: Query;
}) => {
  const form = useForm<RuleValues>({ initialValues: initial, validate: ruleProblems });
  const choose = (next: string) => {
    form.setValues(withType(form.values, next as RuleType));
    form.clearErrors();
  };
  return (
    <EditorPage
      collection="/alert-rules"
      title={rule?.name ?? 'New rule'}
      query={query}
      side={<BacktestCard values={form.values} />}
    >
      <EditorForm
        collection="/alert-rules"
        item={rule}
        form={form}
        bodyOf={bodyOf}
        whole={WHOLE}
        actions={rule && <TestChannels stored={rule} />}
      >
        {rule ? (
          <p className="dim small">{ruleTypes[rule.type].what}</p>
        ) : (
          <Radio.Group label="Notify me about" value={form.values.type} onChange={choose}>
            <div className={classes['types']}>
              {ruleTypeList.map(({ type, name, what }) => (
                <Radio.Card key={type} value={type} className={classes['type']}>
                  <Radio.Indicator />
                  <span>
                    <strong>{name}</strong>
                    <span className="dim small">{what}</span>
                  </span>
                </Radio.Card>
              ))}
            </div>
          </Radio.Group>
        )}
        <RuleFields form={form} />
      </EditorForm>
    </EditorPage>
  );
};

export const NewRule = () => <Editor initial={newRule(getRouteApi('/members/rules/new').useSearch())} />;

export const EditRule = () => {
  const { ruleId } = getRouteApi('/members/rules/$ruleId').useParams();
  const query = useApi().useQuery('get', '/alert-rules');
  return (
    <LoadedItem collection="/alert-rules" query={query} item={query.data?.items.find(({ id }) => id === ruleId)}>
      {(rule) => <Editor key={rule.id} rule={rule} initial={valuesOf(rule)} query={query} />}
    </LoadedItem>
  );
};
