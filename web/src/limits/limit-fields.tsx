import {
  Box,
  Checkbox,
  Group,
  Input,
  NativeSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMe } from '../app.ts';
import { choicesOf } from '../forms/fields.ts';
import { RowsField } from '../forms/rows-field.tsx';
import { grantableRoles } from '../members/roles.ts';
import { countedMembers, ScopeFields, useProjectChoices } from '../scope/scope-fields.tsx';
import { ChannelFields } from './channel-fields.tsx';
import { fieldsOf, isOfSessions, type LimitValues, mayHaveGroups } from './limit-form.ts';
import { dollars, limitTypes, periodLabels } from './limit-types.ts';

interface FieldsProps {
  readonly form: UseFormReturnType<LimitValues>;
}

const unknownCosts = choicesOf({
  ignore: 'Do not count',
  count: 'Count as an amount each',
  block: 'Use the budget up',
});
const onUnavailable = choicesOf({ pass: 'Forward requests', stop: 'Refuse requests' });
const enforcements = choicesOf({
  lagging: 'Some seconds after it is used up',
  reserved: 'Before: each request reserves the most it may cost',
});
const eachLabels = choicesOf({
  key: 'Service key',
  project: 'Project',
  tag: 'Tag',
  session: 'Session (within a day)',
});
const measures = choicesOf({ cost: 'Cost', requests: 'Requests' });

const pauseLabels: Readonly<Record<string, string>> = {
  none: 'Only warn',
  60: 'Refuse its requests for an hour',
  720: 'Refuse its requests for 12 hours',
  1440: 'Refuse its requests for a day',
  10080: 'Refuse its requests for a week',
};

const PeriodFields = ({ form }: FieldsProps) => {
  const { type, period } = form.values;
  const { periods } = limitTypes[type];
  if (periods.length === 1) return null;
  return (
    <div>
      <Input.Label component="div" id="period" mb={4}>
        Period
      </Input.Label>
      <SegmentedControl
        fullWidth
        aria-labelledby="period"
        data={periods.map((value) => ({ value, label: periodLabels[value] }))}
        {...form.getInputProps('period')}
      />
      {period === 'fixed' ? (
        <Group grow align="flex-start" mt="xs">
          <TextInput type="date" label="First day (UTC)" {...form.getInputProps('from')} />
          <TextInput type="date" label="Last day (UTC)" {...form.getInputProps('to')} />
        </Group>
      ) : (
        <span className="dim small">
          Calendar {period === 'hourly' ? 'hours' : 'periods'} in UTC
          {type === 'budget' ? '.' : '; the rule fires once in each.'}
        </span>
      )}
    </div>
  );
};

const NumberFields = ({ form }: FieldsProps) => (
  <Group grow align="flex-start">
    {fieldsOf(form.values).map(({ member, label, description, input: { prefix = '', ...input } }) => (
      <NumberInput
        key={member}
        label={label}
        description={description}
        prefix={form.values.measure === 'cost' ? prefix : ''}
        {...input}
        {...form.getInputProps(member)}
      />
    ))}
  </Group>
);

const RunawayFields = ({ form }: FieldsProps) => {
  const { pause } = form.values;
  const chosen = pause === null ? 'none' : String(pause.minutes);
  const choices = { ...pauseLabels };
  // Stored by a program.
  choices[chosen] ??=
    `Refuse its requests ${pause?.minutes ? `for ${pause.minutes} minutes` : 'until somebody resumes it'}`;
  return (
    <>
      <Group grow align="flex-start">
        <NativeSelect
          label="Each"
          description="Each is judged on its own, so that a runaway one stands out"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={eachLabels}
          {...form.getInputProps('each')}
        />
        <NativeSelect label="Counts" data={measures} {...form.getInputProps('measure')} />
      </Group>
      <NativeSelect
        label="Then"
        data={choicesOf(choices)}
        value={chosen}
        error={form.errors['pause.minutes']}
        onChange={({ currentTarget: { value } }) => {
          form.setFieldValue('pause', value === 'none' ? null : { minutes: value === 'null' ? null : Number(value) });
          form.clearFieldError('pause.minutes');
        }}
      />
    </>
  );
};

const BlockFields = ({ form }: FieldsProps) => (
  <>
    <Switch
      label="Refuse requests when it is used up"
      description="They get the status 429 with the code BUDGET_EXCEEDED. Running responses go on to their end."
      {...form.getInputProps('blocks', { type: 'checkbox' })}
    />
    {form.values.blocks && <NativeSelect label="When" data={enforcements} {...form.getInputProps('enforcement')} />}
    {form.values.blocks && (
      <Box className="columns" __vars={{ '--columns': 'repeat(auto-fit, minmax(min(190px, 100%), 1fr))' }}>
        <NumberInput label="From" suffix=" %" {...form.getInputProps('atPercent')} />
        <NativeSelect
          label="If the gateway cannot know"
          data={onUnavailable}
          {...form.getInputProps('onUnavailable')}
        />
      </Box>
    )}
  </>
);

const perEachLabels = choicesOf({
  '': 'All of them together',
  member: 'Each member',
  key: 'Each service key',
  project: 'Each project',
  session: 'Each session',
  dim: 'Each value of a metadata name',
});

const EachFields = ({ form, isStored }: FieldsProps & { readonly isStored: boolean }) => (
  <Group grow align="flex-start">
    <NativeSelect
      label="The amount is for"
      description="Each has it for itself and is refused alone. This cannot be changed once the limit is saved."
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={perEachLabels}
      disabled={isStored}
      {...form.getInputProps('perEach')}
      error={form.values.perEach !== 'dim' && form.errors['each']}
    />
    {form.values.perEach === 'dim' && (
      <TextInput
        label="Metadata name"
        placeholder="user"
        disabled={isStored}
        {...form.getInputProps('eachName')}
        error={form.errors['each']}
      />
    )}
  </Group>
);

const GroupFields = ({ form }: FieldsProps) => {
  const { me } = useMe();
  const projects = useProjectChoices();
  const { groupAmounts } = form.values;
  const groups = [
    { group: 'Role', items: grantableRoles(me).map((role) => ({ value: `role:${role}`, label: role })) },
    { group: 'Project', items: projects.map((project) => ({ ...project, value: `project:${project.value}` })) },
  ];
  const isFree = (index: number, value: string) =>
    !groupAmounts.some(({ of }, other) => other !== index && of === value);
  return (
    <div>
      <Input.Label component="div">Other amounts</Input.Label>
      <Input.Description mb={8}>For members of a role or project. A project’s comes first.</Input.Description>
      <Stack gap="xs">
        <RowsField form={form} list="groupAmounts" row="amount" newRow={{ of: '', amount: '' }} min={0}>
          {(index) => (
            <>
              <NativeSelect
                flex={1}
                aria-label={`Role or project ${index + 1}`}
                data={[
                  { value: '', label: 'Role or project' },
                  ...groups.map(({ group, items }) => ({
                    group,
                    items: items.filter(({ value }) => isFree(index, value)),
                  })),
                ]}
                {...form.getInputProps(`groupAmounts.${index}.of`)}
              />
              <NumberInput
                flex={1}
                aria-label={`Amount ${index + 1}`}
                {...dollars}
                {...form.getInputProps(`groupAmounts.${index}.amount`)}
              />
            </>
          )}
        </RowsField>
      </Stack>
    </div>
  );
};

const BudgetFields = ({ form }: FieldsProps) => (
  <>
    <BlockFields form={form} />
    <Group grow align="flex-start">
      <NativeSelect label="Requests of unknown cost" data={unknownCosts} {...form.getInputProps('unknownCost')} />
      {form.values.unknownCost === 'count' && (
        <NumberInput label="Each counts as" {...dollars} {...form.getInputProps('countAs')} />
      )}
    </Group>
    <Checkbox
      label="Responses say what is left"
      description="In USD, in the header X-Service-Budget-Remaining: agents can see how much they may still spend."
      {...form.getInputProps('showRemaining', { type: 'checkbox' })}
    />
    <TextInput
      label="Alerts at"
      description="Percentages of the amount, separated by commas"
      placeholder="80, 100"
      {...form.getInputProps('notifyAt')}
    />
  </>
);

export const LimitFields = ({ form, isStored }: FieldsProps & { readonly isStored: boolean }) => (
  <Stack gap="lg">
    <TextInput label="Name" placeholder="Daily limit of production" maxLength={100} {...form.getInputProps('name')} />
    <PeriodFields form={form} />
    {form.values.type === 'burn_rate' && <RunawayFields form={form} />}
    <NumberFields form={form} />
    {form.values.type === 'budget' && <EachFields form={form} isStored={isStored} />}
    {form.values.type === 'budget' && mayHaveGroups(form.values) && <GroupFields form={form} />}
    {!isOfSessions(form.values) && <ScopeFields form={form} members={countedMembers} />}
    {form.values.type === 'budget' && <BudgetFields form={form} />}
    <ChannelFields form={form} />
  </Stack>
);
