import { ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import { required } from '../forms/fields.ts';
import { problemsIn } from '../forms/problems.ts';
import { scopeProblems } from '../scope/scope.ts';
import { channelProblems } from './channels.ts';
import { conditionOf, fieldsOf, type LimitValues } from './limit-form.ts';

/** Problems with what is judged, by member of the form; `scope` is about all of a scope. */
export const conditionProblems = (values: LimitValues): Record<string, string | null> => {
  const [first] = fieldsOf(values);
  const names = [first?.member ?? 'name', 'scope', ...Object.keys(values)] as const;
  return { ...problemsIn(ruleConditionSchema, conditionOf(values), names), ...scopeProblems(values) };
};

/** Problems with the values, by member of the form. */
export const limitProblems = (values: LimitValues): Record<string, string | null> => ({
  ...conditionProblems(values),
  ...channelProblems(values),
  name: required('A name')(values.name),
});
