import { Autocomplete, Button, Group, Select } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { formatShortInstant, utcDate } from '../format/time.ts';
import { capital } from '../forms/collections.ts';
import { choicesOf } from '../forms/fields.ts';
import { CustomDays } from '../spend/custom-days.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useHostChoices, useSeen } from '../spend/use-spend.ts';
import { outcomeNames, provenanceNames } from './names.ts';
import classes from './requests.module.css';
import { orderNames, type RequestsSearch } from './search.ts';

const TYPING_MS = 350;
/** The API's default. */
const DEFAULT_DAYS = 30;

interface FilterProps<Value extends string> {
  readonly label: string;
  readonly width?: number;
  readonly value: Value | undefined;
  readonly onChange: (value: Value | undefined) => void;
}

/** A text filter with suggestions, applied when the user stops typing. */
const TextFilter = (props: FilterProps<string> & { readonly suggestions?: string[] }) => {
  const { label, suggestions = [], width = 138, value, onChange } = props;
  const [text, setText] = useState(value ?? '');
  const apply = useDebouncedCallback((typed: string) => onChange(typed.trim() || undefined), TYPING_MS);
  return (
    <Autocomplete
      size="xs"
      w={width}
      aria-label={label}
      placeholder={label}
      data={suggestions}
      limit={20}
      maxLength={128}
      value={text}
      onChange={(typed) => {
        setText(typed);
        apply(typed);
      }}
    />
  );
};

interface ChoiceFilterProps<Value extends string> extends FilterProps<Value> {
  readonly placeholder?: string;
  readonly isSearchable?: boolean;
  readonly data: readonly { readonly value: Value; readonly label: string }[];
}

/** A filter by one of some values, or none. */
const ChoiceFilter = <Value extends string>(props: ChoiceFilterProps<Value>) => (
  <Select
    size="xs"
    w={props.width ?? 130}
    aria-label={props.label}
    placeholder={props.placeholder ?? props.label}
    clearable
    searchable={props.isSearchable ?? false}
    data={props.data}
    value={props.value ?? null}
    onChange={(chosen) => props.onChange(chosen ?? undefined)}
  />
);

interface RemoveProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A filter that other pages set, and that can only be removed here. */
const Remove = ({ label, onClick, children }: RemoveProps) => (
  <Button size="xs" variant="default" maw={260} rightSection={<X size={13} />} onClick={onClick} aria-label={label}>
    {children}
  </Button>
);

const rangeText = ({ from, to }: RequestsSearch) =>
  `${from ? formatShortInstant(from) : 'start'} – ${to ? formatShortInstant(to) : 'now'}`;

export const RequestFilters = ({ search }: { readonly search: RequestsSearch }) => {
  const navigate = useNavigate({ from: '/requests' });
  const { data: keys } = useApi().useQuery('get', '/keys');
  const change = (part: RequestsSearch) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true });
  const clear = () => void navigate({ search: {} });
  const { from, to } = search;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  // A bar of a chart leads here with instants.
  const hasHours = (from?.length ?? 0) > 10 || (to?.length ?? 0) > 10;
  const defaultFrom = utcDate(new Date(Date.now() - DEFAULT_DAYS * DAY_MS));
  const seen = { model: useSeen('model'), tag: useSeen('tag'), client: useSeen('client') };
  const hosts = useHostChoices();
  const keyNames = useKeyNames((search.project ?? search.member) !== undefined);
  return (
    <Group gap="xs" className={classes['filters']} role="search" aria-label="Filter requests">
      <TextFilter
        key={`contains ${isFiltered}`}
        label="Contains"
        width={170}
        value={search.contains}
        onChange={(contains) => change({ contains })}
      />
      <ChoiceFilter
        label="Provider"
        isSearchable
        data={hosts}
        value={search.provider}
        onChange={(provider) => change({ provider })}
      />
      {(['model', 'tag', 'client'] as const).map((name) => (
        <TextFilter
          key={`${name} ${isFiltered}`}
          label={capital(name)}
          suggestions={seen[name]}
          value={search[name]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      <ChoiceFilter
        label="Service key"
        width={136}
        data={keys?.items.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        value={search.key}
        onChange={(key) => change({ key })}
      />
      <ChoiceFilter
        label="Outcome"
        data={choicesOf(outcomeNames)}
        value={search.outcome}
        onChange={(outcome) => change({ outcome })}
      />
      <ChoiceFilter
        label="How the cost is known"
        placeholder="Cost"
        width={150}
        data={choicesOf(provenanceNames)}
        value={search.provenance}
        onChange={(provenance) => change({ provenance })}
      />
      {!hasHours && (
        <CustomDays
          key={`${from} ${to}`}
          zone="UTC"
          days={{ from: from?.slice(0, 10) ?? defaultFrom, to: to?.slice(0, 10) ?? utcDate(new Date()) }}
          onChange={change}
        />
      )}
      <Select
        size="xs"
        w={126}
        aria-label="Order"
        data={choicesOf(orderNames)}
        value={search.orderBy ?? 'time'}
        onChange={(order) => change({ orderBy: order === 'time' ? undefined : (order ?? undefined) })}
      />
      {hasHours && (
        <Remove
          label={`Remove the range ${rangeText(search)}`}
          onClick={() => change({ from: undefined, to: undefined })}
        >
          {rangeText(search)}
        </Remove>
      )}
      {(['project', 'member'] as const).map((name) => {
        const id = search[name];
        return (
          id !== undefined && (
            <Remove key={name} label={`Remove the ${name}`} onClick={() => change({ [name]: undefined })}>
              {capital(name)} {keyNames.get(id) ?? id}
            </Remove>
          )
        );
      })}
      {search.session !== undefined && (
        <Remove
          label={`Remove the session ${search.session}`}
          onClick={() => change({ session: undefined, agent: undefined })}
        >
          Session {search.session}
        </Remove>
      )}
      {isFiltered && (
        <Button size="xs" variant="subtle" onClick={clear}>
          Clear
        </Button>
      )}
    </Group>
  );
};
