import { Group, NumberInput, Select, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { ShieldCheck } from 'lucide-react';
import { accessRuleWith } from '../../../lambda/domain/limits/access-rules.ts';
import type { AccessRule, NewAccessRule, Role } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money, Unpriced } from '../components/amount.tsx';
import { DialogButton } from '../components/buttons.tsx';
import { LoadProblem } from '../components/page.tsx';
import { actions, type Column, ListSection, TwoLines } from '../components/table.tsx';
import { formatLimit, formatMoney, plural } from '../format/numbers.ts';
import { DeleteButton, EditorForm } from '../forms/editor.tsx';
import { problemsIn, required } from '../forms/fields.ts';
import { roleTexts } from '../members/roles.ts';
import { type ScopeValues, scopeOf, scopeText, scopeValuesOf } from '../scope/scope.ts';
import { ScopeFields } from '../scope/scope-fields.tsx';
import type { KeyNames } from '../spend/groups.ts';
import { valueName } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useAccessRules, useTyped } from './use-limits.ts';

/** Members of a scope that an access rule can be for, next to a role. */
const scopeMembers = ['key', 'project'] as const;

interface AccessValues extends ScopeValues {
  readonly name: string;
  readonly role: Role | '';
  readonly allowed: string[];
  readonly denied: string[];
  readonly maxRequestUsd: number | '';
}

const valuesOf = (rule: AccessRule | undefined): AccessValues => ({
  ...scopeValuesOf(rule?.scope),
  name: rule?.name ?? '',
  role: rule?.scope.role ?? '',
  allowed: rule?.allowed ?? [],
  denied: rule?.denied ?? [],
  maxRequestUsd: rule?.maxRequestUsd ?? '',
});

/** The rule as the API takes it. A form has no list that allows nothing. */
const bodyOf = ({ name, role, allowed, denied, maxRequestUsd, ...values }: AccessValues): NewAccessRule => {
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
const accessProblems = (values: AccessValues): Record<string, string | null> => {
  const { name, ...rule } = bodyOf(values);
  return {
    ...problemsIn(schema, rule, ['allowed', 'denied', 'maxRequestUsd', ...scopeMembers]),
    name: required('A name')(name),
  };
};

/** A rule in words: `project Search: only openai/gpt-4o*, not openai/o1*, up to $2 for a request`. */
const accessText = ({ scope, allowed, denied, maxRequestUsd }: AccessRule, names: KeyNames): string => {
  const { role, ...others } = scope;
  const keys = [scopeText(others, names), role ? `members with the role ${role}` : ''].filter(Boolean).join(', ');
  const parts = [
    ...(allowed ? [`only ${allowed.join(', ') || 'nothing'}`] : []),
    ...(denied.length > 0 ? [`not ${denied.join(', ')}`] : []),
    ...(maxRequestUsd === null ? [] : [`up to ${formatLimit(maxRequestUsd)} for a request`]),
  ];
  return `${keys || 'All keys'}: ${parts.join('; ')}`;
};

const SHOWN = 5;

const Preview = ({ values }: { readonly values: AccessValues }) => {
  const keyNames = useKeyNames();
  const [body, isTyped] = useTyped({ ...bodyOf(values), name: values.name.trim() || 'Preview' });
  const { name: _, ...problems } = accessProblems(values);
  const enabled = isTyped && Object.values(problems).every((problem) => problem === null);
  const query = useApi().useQuery('post', '/access-rules/preview', { body }, { enabled });
  const { data } = query;
  if (!data) return <LoadProblem query={query} title="The rule could not be tested" />;
  const { requests, refused, items, mayAlsoMatch, dearest } = data;
  return (
    <div>
      <Text component="output" size="sm" fw={600}>
        In the last 30 days it would have refused {plural(refused.requests, 'request')} of {requests}, for{' '}
        <Money nano={refused.costNanoUsd} /> <Unpriced of={refused.unpricedRequests} />
      </Text>
      <ul className="dim small">
        {items.slice(0, SHOWN).map((item) => (
          <li key={`${item.provider} ${item.model} ${item.keyId}`}>
            {`${item.provider}/${item.model ?? 'no model'}, ${valueName('key', item.keyId, keyNames)}: ${plural(item.requests, 'request')}`}
          </li>
        ))}
        {mayAlsoMatch && <li>{`Up to ${plural(mayAlsoMatch.requests, 'more request')}, counted under (other).`}</li>}
        {dearest && (
          <li>
            {dearest.items.length === 0
              ? 'No request cost more than the highest price. A request is refused for what it may cost, so some would be.'
              : `Some requests cost more than the highest price, up to ${formatMoney(dearest.items[0]?.costNanoUsd ?? 0)}.`}
          </li>
        )}
      </ul>
    </div>
  );
};

const patterns = { splitChars: [',', ' '], placeholder: 'openai/gpt-4o*, anthropic/*' };

const Editor = ({ rule, onClose }: { readonly rule: AccessRule | undefined; readonly onClose: () => void }) => {
  const form = useForm<AccessValues>({ initialValues: valuesOf(rule), validate: accessProblems });
  return (
    <EditorForm collection="/access-rules" item={rule} form={form} bodyOf={bodyOf} whole={['scope']} onClose={onClose}>
      <Text size="sm">Other requests get the status 403 with the code MODEL_NOT_ALLOWED, and what may be called.</Text>
      <TextInput
        label="Name"
        description="The refused client sees it."
        maxLength={100}
        {...form.getInputProps('name')}
      />
      <ScopeFields form={form} members={scopeMembers} />
      <Select
        label="Only keys of members with the role"
        placeholder="any role"
        clearable
        data={Object.keys(roleTexts)}
        value={form.values.role || null}
        onChange={(role) => form.setFieldValue('role', (role ?? '') as AccessValues['role'])}
      />
      <TagsInput
        label="Only these models"
        description="Provider and model, with * for any. Empty: all that are not excluded below."
        {...patterns}
        {...form.getInputProps('allowed')}
      />
      <TagsInput label="Not these models" {...patterns} {...form.getInputProps('denied')} />
      <NumberInput
        label="Highest price of one request"
        description="Compared with the most that it may cost: the longest response that it asks for."
        prefix="$"
        {...form.getInputProps('maxRequestUsd')}
      />
      <Preview values={form.values} />
    </EditorForm>
  );
};

const RuleText = ({ rule }: { readonly rule: AccessRule }) => accessText(rule, useKeyNames());

const TITLE = 'What keys may call';
const dialog = { needs: 'keys:write-all', variant: 'default', title: TITLE } as const;

const columns: readonly Column<AccessRule>[] = [
  { head: 'Rule', cell: (rule) => <TwoLines second={<RuleText rule={rule} />}>{rule.name}</TwoLines> },
  actions('keys:write-all', (rule) => (
    <Group gap="xs" justify="flex-end">
      <DialogButton {...dialog} size="compact-xs" label="Edit" aria-label={`Edit ${rule.name}`}>
        {(close) => <Editor rule={rule} onClose={close} />}
      </DialogButton>
      <DeleteButton collection="/access-rules" item={rule} aria-label={`Delete ${rule.name}`} />
    </Group>
  )),
];

export const AccessRules = () => (
  <ListSection
    title={TITLE}
    action={
      <DialogButton {...dialog} size="xs" leftSection={<ShieldCheck size={14} />} label="Set what keys may call">
        {(close) => <Editor rule={undefined} onClose={close} />}
      </DialogButton>
    }
    query={useAccessRules()}
    none="Every key may call every model, at any price."
    columns={columns}
  />
);
