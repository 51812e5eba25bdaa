import { Autocomplete, Select } from '@mantine/core';
import { useApi } from '../app.ts';
import type { FormPart } from '../components/form-part.ts';
import { providerChoices } from '../providers/names.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useSeen } from '../spend/use-seen.ts';
import type { FilterValues } from './rule-filter.ts';
import classes from './rules.module.css';

/** A value of a declared dimension. An account that declared none does not see it. */
const DimensionFields = ({ form }: { readonly form: FormPart<FilterValues> }) => {
  const { dimension } = form.values;
  const { data } = useApi().useQuery('get', '/dimensions');
  const names = (data?.items ?? []).flatMap(({ name, isDeclared }) => (isDeclared || name === dimension ? name : []));
  const values = useSeen(dimension === '' ? undefined : `dim:${dimension}`);
  if (names.length === 0) return null;
  return (
    <>
      <Select
        placeholder="any dimension"
        aria-label="Dimension"
        clearable
        data={names}
        value={dimension || null}
        onChange={(value) => form.setFieldValue('dimension', value ?? '')}
      />
      {dimension !== '' && (
        <Autocomplete
          placeholder={`a ${dimension}`}
          aria-label="Value of the dimension"
          data={values}
          maxLength={128}
          limit={20}
          {...form.getInputProps('dimensionValue')}
        />
      )}
    </>
  );
};

/** Which requests a rule or budget counts. */
export const FilterFields = ({ form }: { readonly form: FormPart<FilterValues> }) => {
  const models = useSeen('model');
  const tags = useSeen('tag');
  const clients = useSeen('client');
  const keyNames = useKeyNames();
  return (
    <fieldset className={classes['fieldset']}>
      <legend>Only requests of</legend>
      <Select
        placeholder="any provider"
        aria-label="Provider"
        clearable
        searchable
        data={providerChoices}
        value={form.values.provider || null}
        error={form.errors['provider']}
        onChange={(value) => form.setFieldValue('provider', value ?? '')}
      />
      <Autocomplete
        placeholder="any model"
        aria-label="Model"
        data={models}
        maxLength={128}
        limit={20}
        {...form.getInputProps('model')}
      />
      <Autocomplete
        placeholder="any tag"
        aria-label="Tag"
        data={tags}
        maxLength={64}
        limit={20}
        {...form.getInputProps('tag')}
      />
      <Select
        placeholder="any service key"
        aria-label="Service key"
        clearable
        searchable
        data={[...keyNames].map(([value, label]) => ({ value, label }))}
        value={form.values.key || null}
        error={form.errors['key']}
        onChange={(value) => form.setFieldValue('key', value ?? '')}
      />
      <Autocomplete
        placeholder="any client"
        aria-label="Client"
        data={clients}
        maxLength={64}
        limit={20}
        {...form.getInputProps('client')}
      />
      <DimensionFields form={form} />
    </fieldset>
  );
};
