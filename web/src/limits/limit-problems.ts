import { ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import { fieldNames, problemsIn, required } from '../forms/fields.ts';
import { scopeProblems } from '../scope/scope.ts';
import { channelProblems } from './channels.ts';
import { conditionOf, fieldsOf, type LimitValues, mayHaveGroups } from './limit-form.ts';

/** Problems with what is judged, by member of the form; `scope` is about all of a scope. */
export const conditionProblems = (values: LimitValues): Record<string, string | null> => {
  const [first] = fieldsOf(values);
  const names = [first?.member ?? 'name', 'scope', ...fieldNames(values)] as const;
  return { ...problemsIn(ruleConditionSchema, conditionOf(values), names), ...scopeProblems(values) };
};

/** Rows of amounts that are not filled in. */
const groupProblems = (values: LimitValues): Record<string, string | null> =>
  Object.fromEntries(
    (mayHaveGroups(values) ? values.groupAmounts : []).flatMap(({ of, amount }, index) => [
      [`groupAmounts.${index}.of`, of === '' ? 'Choose one.' : null],
      [`groupAmounts.${index}.amount`, Number(amount) > 0 ? null : 'An amount above 0.'],
    ]),
  );

/** Problems with the values, by member of the form. */
export const limitProblems = (values: LimitValues): Record<string, string | null> => ({
  ...conditionProblems(values),
  ...channelProblems(values),
  ...groupProblems(values),
  name: required('A name')(values.name),
});
