import { Autocomplete, Button, Group, Select } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { formatShortInstant, utcDate } from '../format/time.ts';
import { providerChoices } from '../providers/names.ts';
import { CustomDays } from '../spend/custom-days.tsx';
import { useSeen } from '../spend/use-seen.ts';
import { outcomeNames, provenanceNames } from './names.ts';
import classes from './requests.module.css';
import { orderNames, type RequestsSearch } from './search.ts';

const TYPING_MS = 350;
/** The API's default. */
const DEFAULT_DAYS = 30;
const NONE: readonly string[] = [];

const choices = <N extends string>(names: Readonly<Record<N, string>>) =>
  (Object.entries(names) as [N, string][]).map(([value, label]) => ({ value, label }));

/** A text filter with suggestions, applied when the user stops typing. */
const TextFilter = ({
  label,
  suggestions,
  width = 138,
  value,
  onChange,
}: {
  readonly label: string;
  readonly suggestions: readonly string[];
  readonly width?: number;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) => {
  const [text, setText] = useState(value ?? '');
  const apply = useDebouncedCallback((typed: string) => onChange(typed.trim() || undefined), TYPING_MS);
  return (
    <Autocomplete
      size="xs"
      w={width}
      aria-label={label}
      placeholder={label}
      data={[...suggestions]}
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

/** A filter by one of some values, or none. */
const ChoiceFilter = <V extends string>({
  label,
  placeholder = label,
  width,
  isSearchable = false,
  data,
  value,
  onChange,
}: {
  readonly label: string;
  readonly placeholder?: string;
  readonly width: number;
  readonly isSearchable?: boolean;
  readonly data: readonly { readonly value: V; readonly label: string }[];
  readonly value: V | undefined;
  readonly onChange: (value: V | undefined) => void;
}) => (
  <Select
    size="xs"
    w={width}
    aria-label={label}
    placeholder={placeholder}
    clearable
    searchable={isSearchable}
    data={data}
    value={value ?? null}
    onChange={(chosen) => onChange(chosen ?? undefined)}
  />
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
  const [models, tags, clients] = [useSeen('model'), useSeen('tag'), useSeen('client')];
  return (
    <Group gap="xs" className={classes['filters']} role="search" aria-label="Filter requests">
      <TextFilter
        key={`contains ${isFiltered}`}
        label="Contains"
        suggestions={NONE}
        width={170}
        value={search.contains}
        onChange={(contains) => change({ contains })}
      />
      <ChoiceFilter
        label="Provider"
        width={130}
        isSearchable
        data={providerChoices}
        value={search.provider}
        onChange={(provider) => change({ provider })}
      />
      <TextFilter
        key={`model ${isFiltered}`}
        label="Model"
        suggestions={models}
        value={search.model}
        onChange={(model) => change({ model })}
      />
      <TextFilter
        key={`tag ${isFiltered}`}
        label="Tag"
        suggestions={tags}
        value={search.tag}
        onChange={(tag) => change({ tag })}
      />
      <TextFilter
        key={`client ${isFiltered}`}
        label="Client"
        suggestions={clients}
        value={search.client}
        onChange={(client) => change({ client })}
      />
      <ChoiceFilter
        label="Service key"
        width={136}
        data={keys?.items.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        value={search.key}
        onChange={(key) => change({ key })}
      />
      <ChoiceFilter
        label="Outcome"
        width={130}
        data={choices(outcomeNames)}
        value={search.outcome}
        onChange={(outcome) => change({ outcome })}
      />
      <ChoiceFilter
        label="How the cost is known"
        placeholder="Cost"
        width={150}
        data={choices(provenanceNames)}
        value={search.provenance}
        onChange={(provenance) => change({ provenance })}
      />
      {!hasHours && (
        <CustomDays
          key={`${from} ${to}`}
          days={{ from: from?.slice(0, 10) ?? defaultFrom, to: to?.slice(0, 10) ?? utcDate(new Date()) }}
          onChange={change}
        />
      )}
      <Select
        size="xs"
        w={126}
        aria-label="Order"
        allowDeselect={false}
        data={choices(orderNames)}
        value={search.orderBy ?? 'time'}
        onChange={(order) => change({ orderBy: order === 'time' ? undefined : (order ?? undefined) })}
      />
      {hasHours && (
        <Button
          size="xs"
          variant="default"
          rightSection={<X size={13} />}
          onClick={() => change({ from: undefined, to: undefined })}
          aria-label={`Remove the range ${rangeText(search)}`}
        >
          {rangeText(search)}
        </Button>
      )}
      {search.session !== undefined && (
        <Button
          size="xs"
          variant="default"
          maw={220}
          rightSection={<X size={13} />}
          onClick={() => change({ session: undefined, agent: undefined })}
          aria-label={`Remove the session ${search.session}`}
        >
          Session {search.session}
        </Button>
      )}
      {isFiltered && (
        <Button size="xs" variant="subtle" onClick={clear}>
          Clear
        </Button>
      )}
    </Group>
  );
};
