import { Autocomplete, Button, Group, Select } from '@mantine/core';
import { useDebouncedCallback, useDidUpdate } from '@mantine/hooks';
import { X } from 'lucide-react';
import { useRef, useState } from 'react';
import { usePageSearch } from '../components/use-page-search.ts';
import { formatShortInstant } from '../format/time.ts';
import { capital } from '../forms/collections.ts';
import { choicesOf } from '../forms/fields.ts';
import { useKeyChoices, withValue } from '../scope/scope-fields.tsx';
import { ListDays } from '../spend/custom-days.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useHostChoices, useSeen } from '../spend/use-spend.ts';
import classes from './requests.module.css';
import { orderNames, type RequestsSearch } from './search.ts';
import { outcomeNames, provenanceNames } from './status.tsx';

const TYPING_MS = 350;

interface TextFilterProps {
  readonly label: string;
  readonly suggestions: string[];
  readonly value: string | undefined;
  /** @param goesOn whether it was typed on since it was applied: Back leads to the page before all of it */
  readonly onChange: (value: string | undefined, goesOn: boolean) => void;
}

/** A text filter with suggestions, applied when the user stops typing. */
const TextFilter = ({ label, suggestions, value, onChange }: TextFilterProps) => {
  const [text, setText] = useState(value ?? '');
  const asked = useRef(value);
  const isBegun = useRef(false);
  const ask = useDebouncedCallback((typed: string) => {
    asked.current = typed.trim() || undefined;
    onChange(asked.current, isBegun.current);
    isBegun.current = true;
  }, TYPING_MS);
  // It was changed elsewhere: by Clear, a view or the browser's Back.
  useDidUpdate(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value ?? '');
  }, [value]);
  return (
    <Autocomplete
      size="xs"
      w={140}
      aria-label={label}
      placeholder={label}
      data={suggestions}
      limit={20}
      maxLength={128}
      value={text}
      onBlur={() => {
        isBegun.current = false;
      }}
      onChange={(typed) => {
        setText(typed);
        ask(typed);
      }}
    />
  );
};

const rangeText = ({ from, to }: RequestsSearch) =>
  `${from ? formatShortInstant(from) : 'start'} – ${to ? formatShortInstant(to) : 'now'}`;

export const RequestFilters = () => {
  const { search, change } = usePageSearch('/members/requests');
  const clear = () => change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])));
  const { from, to } = search;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  // A bar of a chart leads here with instants.
  const hasHours = (from?.length ?? 0) > 10 || (to?.length ?? 0) > 10;
  const seen = { contains: [], model: useSeen('model'), tag: useSeen('tag'), client: useSeen('client') };
  const keyNames = useKeyNames((search.project ?? search.member) !== undefined);
  const choices = [
    { name: 'provider', label: 'Provider', data: useHostChoices() },
    { name: 'key', label: 'Service key', data: useKeyChoices() },
    { name: 'outcome', label: 'Outcome', data: choicesOf(outcomeNames) },
    {
      name: 'provenance',
      label: 'How the cost is known',
      placeholder: 'Kind of cost',
      data: choicesOf(provenanceNames),
    },
  ] as const;
  /** Filters that other pages set, and that can only be removed here. */
  const others = [
    hasHours && {
      what: `range ${rangeText(search)}`,
      text: rangeText(search),
      part: { from: undefined, to: undefined },
    },
    ...(['project', 'member', 'session'] as const).map((what) => {
      const { [what]: id = '' } = search;
      const name = keyNames.get(id) ?? id;
      const part = { [what]: undefined, ...(what === 'session' && { agent: undefined }) };
      return id !== '' && { what: `${what} ${name}`, text: `${capital(what)} ${name}`, part };
    }),
  ].filter((other) => other !== false);
  return (
    <Group gap="xs" className={classes['filters']} role="search" aria-label="Filter requests">
      {(['contains', 'model', 'tag', 'client'] as const).map((name) => (
        <TextFilter
          key={name}
          label={name === 'contains' ? 'Name or id' : capital(name)}
          suggestions={seen[name]}
          value={search[name]}
          onChange={(value, goesOn) => change({ [name]: value }, goesOn)}
        />
      ))}
      {choices.map(({ name, label, data, ...choice }) => (
        <Select
          key={name}
          size="xs"
          w={140}
          aria-label={label}
          placeholder={label}
          {...choice}
          clearable
          searchable={data.length > 10}
          limit={100}
          data={withValue(data, search[name] ?? '')}
          value={search[name] ?? null}
          onChange={(chosen) => change({ [name]: chosen ?? undefined })}
        />
      ))}
      {!hasHours && <ListDays search={search} onChange={change} />}
      <Select
        size="xs"
        w={126}
        aria-label="Order"
        data={choicesOf(orderNames)}
        value={search.orderBy ?? 'time'}
        onChange={(order) => change({ orderBy: order === 'time' ? undefined : (order ?? undefined) })}
      />
      {others.map(({ what, text, part }) => (
        <Button
          key={what}
          size="xs"
          variant="default"
          maw={260}
          rightSection={<X size={13} />}
          onClick={() => change(part)}
          aria-label={`Remove the ${what}`}
        >
          {text}
        </Button>
      ))}
      {isFiltered && (
        <Button size="xs" variant="subtle" onClick={clear}>
          Clear
        </Button>
      )}
    </Group>
  );
};
