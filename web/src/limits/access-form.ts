import { accessRuleWith } from '../../../lambda/domain/limits/access-rules.ts';
import type { AccessRule, NewAccessRule, Role } from '../api/responses.ts';
import { required } from '../forms/fields.ts';
import { problemsIn } from '../forms/problems.ts';
import { type ScopeValues, scopeOf, scopeText, scopeValuesOf } from '../scope/scope.ts';
import type { KeyNames } from '../spend/groups.ts';

/** Members of a scope that an access rule can be for, next to a role. */
export const scopeMembers = ['key', 'project'] as const;

export interface AccessValues extends ScopeValues {
  readonly name: string;
  readonly role: Role | '';
  readonly allowed: string[];
  readonly denied: string[];
  readonly maxRequestUsd: number | '';
}

export const valuesOf = (rule: AccessRule | undefined): AccessValues => ({
  ...scopeValuesOf(rule?.scope),
  name: rule?.name ?? '',
  role: rule?.scope.role ?? '',
  allowed: rule?.allowed ?? [],
  denied: rule?.denied ?? [],
  maxRequestUsd: rule?.maxRequestUsd ?? '',
});

/** The rule as the API takes it. A form has no list that allows nothing. */
export const bodyOf = ({ name, role, allowed, denied, maxRequestUsd, ...values }: AccessValues): NewAccessRule => {
  const { key, project } = scopeOf(values);
  return {
    name: name.trim(),
    scope: { ...(key && { key }), ...(project && { project }), ...(role !== '' && { role }) },
    allowed: allowed.length > 0 ? allowed : null,
    denied,
    maxRequestUsd: maxRequestUsd === '' ? null : maxRequestUsd,
  };
};

const schema = accessRuleWith({});

/** Problems with the values, by member of the form. */
export const accessProblems = (values: AccessValues): Record<string, string | null> => {
  const { name, ...rule } = bodyOf(values);
  return {
    ...problemsIn(schema, rule, ['allowed', 'denied', 'maxRequestUsd', ...scopeMembers]),
    name: required('A name')(name),
  };
};

/** A rule in words: `project Search: only openai/gpt-4o*, not openai/o1*, up to $2 for a request`. */
export const accessText = ({ scope, allowed, denied, maxRequestUsd }: AccessRule, names: KeyNames): string => {
  const { role, ...others } = scope;
  const keys = [scopeText(others, names), role ? `members with the role ${role}` : ''].filter(Boolean).join(', ');
  const parts = [
    ...(allowed ? [`only ${allowed.join(', ') || 'nothing'}`] : []),
    ...(denied.length > 0 ? [`not ${denied.join(', ')}`] : []),
    ...(maxRequestUsd === null ? [] : [`up to $${maxRequestUsd} for a request`]),
  ];
  return `${keys || 'All keys'}: ${parts.join('; ')}`;
};
