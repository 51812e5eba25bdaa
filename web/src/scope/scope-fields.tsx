import { Autocomplete, Box, Input, Select } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import {
  MAX_CLIENT_CHARACTERS,
  MAX_METADATA_CHARACTERS,
  MAX_MODEL_CHARACTERS,
  MAX_SESSION_ID_CHARACTERS,
  MAX_TAG_CHARACTERS,
} from '../../../lambda/domain/usage/limits.ts';
import type { Key } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import type { FormPart } from '../forms/editor.tsx';
import { dimensionNames } from '../spend/filters.ts';
import { useHostChoices, useSeen } from '../spend/use-spend.ts';
import type { ScopeMember, ScopeValues } from './scope.ts';

interface FieldProps<Name extends ScopeMember = ScopeMember> {
  readonly form: FormPart<ScopeValues>;
  readonly name: Name;
}

const labels: Readonly<Record<ScopeMember, string>> = {
  ...dimensionNames,
  session: 'Session',
  serviceTier: 'Service tier',
  dimension: 'Dimension',
};

type Choice = { readonly value: string; readonly label: string; readonly disabled?: boolean };

/** Choices, and a value that is in no list any more: it is shown all the same. */
export const withValue = (choices: readonly Choice[], value: string): Choice[] =>
  value === '' || choices.some((choice) => choice.value === value)
    ? [...choices]
    : [...choices, { value, label: value }];

/** One of a list. */
const ChoiceField = ({ form, name, choices }: FieldProps & { readonly choices: readonly Choice[] }) => {
  const { [name]: value } = form.values;
  return (
    <Select
      placeholder={`any ${labels[name].toLowerCase()}`}
      aria-label={labels[name]}
      clearable
      searchable
      limit={100}
      data={withValue(choices, value)}
      value={value || null}
      error={form.errors[name]}
      onChange={(chosen) => form.setFieldValue(name, chosen ?? '')}
    />
  );
};

/** A list that failed says so: without choices it would say that there are none. */
const choicesIn = <Item,>(
  things: string,
  { data, error }: { readonly data: { readonly items: readonly Item[] } | undefined; readonly error: unknown },
  choiceOf: (item: Item) => Choice,
): Choice[] =>
  data?.items.map(choiceOf) ?? (error ? [{ value: '', label: `(${things} could not be loaded)`, disabled: true }] : []);

const named = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({ value: id, label: name });

export const useKeyChoices = (isOffered: (key: Key) => boolean = () => true): Choice[] => {
  const { data, error } = useApi().useQuery('get', '/keys');
  return choicesIn('keys', { data: data && { items: data.items.filter(isOffered) }, error }, named);
};

export const useProjectChoices = (): Choice[] => choicesIn('projects', useApi().useQuery('get', '/projects'), named);

export const useMemberChoices = (): Choice[] => {
  const query = useApi().useQuery('get', '/members', {}, { enabled: useMe().may('members:read') });
  return choicesIn('members', query, ({ userId, email }) => ({ value: userId, label: email }));
};

/** The dimensions that the account declares. */
export const useDeclaredChoices = (): Choice[] => {
  const { data, error } = useApi().useQuery('get', '/dimensions');
  const declared = data && { items: data.items.filter(({ isDeclared }) => isDeclared) };
  return choicesIn('dimensions', { data: declared, error }, ({ name }) => ({ value: name, label: name }));
};

const ProviderField = (props: FieldProps) => <ChoiceField {...props} choices={useHostChoices()} />;
const KeyField = (props: FieldProps) => {
  const isOffered = ({ id, status }: Key) => status !== 'revoked' || id === props.form.values.key;
  return <ChoiceField {...props} choices={useKeyChoices(isOffered)} />;
};
const ProjectField = (props: FieldProps) => <ChoiceField {...props} choices={useProjectChoices()} />;
const MemberField = (props: FieldProps) => <ChoiceField {...props} choices={useMemberChoices()} />;

const lengths = {
  model: MAX_MODEL_CHARACTERS,
  tag: MAX_TAG_CHARACTERS,
  session: MAX_SESSION_ID_CHARACTERS,
  client: MAX_CLIENT_CHARACTERS,
  serviceTier: 256,
} as const;

/** A text, with the names that were seen lately. */
const TextField = ({ form, name }: FieldProps<keyof typeof lengths>) => {
  const seen = useSeen(name === 'session' || name === 'serviceTier' ? undefined : name);
  return (
    <Autocomplete
      placeholder={`any ${labels[name].toLowerCase()}`}
      aria-label={labels[name]}
      data={seen}
      maxLength={lengths[name]}
      limit={20}
      {...form.getInputProps(name)}
    />
  );
};

/** A value of a declared dimension. An account that declared none does not see it. */
const DimensionFields = ({ form }: FieldProps) => {
  const { dimension } = form.values;
  const choices = useDeclaredChoices();
  const values = useSeen(dimension === '' ? undefined : `dim:${dimension}`);
  if (choices.length === 0 && dimension === '') return null;
  return (
    <>
      <ChoiceField form={form} name="dimension" choices={choices} />
      {dimension !== '' && (
        <Autocomplete
          placeholder={`a ${dimension}`}
          aria-label="Value of the dimension"
          data={values}
          maxLength={2 * MAX_METADATA_CHARACTERS}
          limit={20}
          {...form.getInputProps('dimensionValue')}
        />
      )}
    </>
  );
};

const fields = {
  provider: ProviderField,
  model: TextField,
  tag: TextField,
  key: KeyField,
  project: ProjectField,
  member: MemberField,
  session: TextField,
  client: TextField,
  serviceTier: TextField,
  dimension: DimensionFields,
} as const;

/** Members by which rules and budgets choose spend. */
export const countedMembers = ['provider', 'model', 'tag', 'key', 'project', 'member', 'client', 'dimension'] as const;

interface ScopeFieldsProps {
  readonly form: FormPart<ScopeValues>;
  readonly members: readonly ScopeMember[];
}

const COLUMNS = { '--columns': 'repeat(auto-fill, minmax(min(150px, 100%), 1fr))' };

/** Chooses requests: for a rule, budget, pause or price. @param members what they can be chosen by */
export const ScopeFields = ({ form, members }: ScopeFieldsProps) => {
  // A problem of the scope as a whole belongs to no field that would clear it.
  useDidUpdate(
    () => form.clearFieldError('scope'),
    members.map((name) => form.values[name]),
  );
  return (
    <Box component="fieldset" className="columns" __vars={COLUMNS} m={0} p={0} bd={0} style={{ gap: 8 }}>
      <Input.Label component="legend" mb={4} p={0}>
        Only requests of
      </Input.Label>
      {members.map((name) => {
        const Field = fields[name];
        return <Field key={name} form={form} name={name as never} />;
      })}
      {form.errors['scope'] && <Input.Error style={{ gridColumn: '1 / -1' }}>{form.errors['scope']}</Input.Error>}
    </Box>
  );
};
