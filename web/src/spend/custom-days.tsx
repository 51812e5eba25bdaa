import { Button, Group, TextInput } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import { X } from 'lucide-react';
import { useState } from 'react';
import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { DAY_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { addDays } from '../../../lambda/domain/calendar/utc.ts';
import { useEvery } from '../components/use-every.ts';
import { daysOf, formatPeriod, startInZone, utcDate, zoneName } from '../format/time.ts';
import { isInstant } from './ranges.ts';

interface Days {
  readonly from: string;
  readonly to: string;
}

/** Problem of the days of a range; undefined where they are in order. */
const problemOf = ({ from, to }: Days, today: string): string | undefined => {
  if (from === '' || to === '') return 'Both days are needed.';
  if (from > today || to > today) return 'Not in the future.';
  return from > to ? 'The last day is before the first.' : undefined;
};

/** The end of today in a zone for an instant after its begin: a running period ends with the last whole hour. */
const untilTonight = (to: string, zone: string): string => {
  const today = dayIn(zone, new Date());
  return dayIn(zone, new Date(Date.parse(to) - 1)) === today ? startInZone(zone, addDays(today, 1)).toISOString() : to;
};

/** The first and last day of a custom range. One of instants, to which mails and bars lead, is shown as it is, and can be left for its days. */
export const CustomDays = (props: CustomDaysProps) => {
  const { zone } = props;
  const { from, to } = props.days;
  const days = [from, to].some(isInstant) ? daysOf({ from, to: untilTonight(to, zone) }, zone) : props.days;
  if (days) return <DayFields {...props} days={days} />;
  const text = formatPeriod(from, to, zone);
  return (
    <Button
      size="xs"
      variant="default"
      rightSection={<X size={13} />}
      onClick={() =>
        props.onChange({ from: dayIn(zone, new Date(from)), to: dayIn(zone, new Date(Date.parse(to) - 1)) })
      }
      aria-label={`Choose days instead of ${text}`}
    >
      {text}
    </Button>
  );
};

interface CustomDaysProps {
  /** Days, or instants of which the last is not included. */
  readonly days: Days;
  /** Whose days they are. */
  readonly zone: string;
  /** Which range, where a page has two: `the period before`. */
  readonly of?: string;
  readonly onChange: (days: Days) => void;
}

/** Days that the API's lists have by default. */
const LIST_DAYS = 30;

interface ListDaysProps extends Pick<CustomDaysProps, 'onChange'> {
  readonly search: { readonly from?: string | undefined; readonly to?: string | undefined };
}

/** The first and last day (UTC) of a list. */
export const ListDays = ({ search: { from, to }, onChange }: ListDaysProps) => {
  useEvery(MINUTE_MS);
  const days = {
    from: from?.slice(0, 10) ?? utcDate(new Date(Date.now() - LIST_DAYS * DAY_MS)),
    to: to?.slice(0, 10) ?? utcDate(new Date()),
  };
  return <CustomDays zone="UTC" days={days} onChange={onChange} />;
};

/** Typed text counts with Enter or when the field is left: the years 0002 and 0020 on the way to 2026 are no ranges. */
const DayFields = ({ days, zone, of, onChange }: CustomDaysProps) => {
  const [typed, setTyped] = useState(days);
  const [problem, setProblem] = useState<string>();
  const today = dayIn(zone, new Date());
  // What is being typed into the other field stays, and so does the focus in it.
  const take = (changed: Partial<Days>) => {
    setTyped((now) => ({ ...now, ...changed }));
    setProblem(undefined);
  };
  useDidUpdate(() => take({ from: days.from }), [days.from]);
  useDidUpdate(() => take({ to: days.to }), [days.to]);
  const commit = () => {
    const found = problemOf(typed, today);
    setProblem(found);
    if (found === undefined && (typed.from !== days.from || typed.to !== days.to)) onChange(typed);
  };
  const field = (name: keyof Days, label: string) => (
    <TextInput
      size="xs"
      type="date"
      aria-label={label}
      max={today}
      value={typed[name]}
      error={problem !== undefined}
      onChange={({ currentTarget }) => setTyped({ ...typed, [name]: currentTarget.value })}
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
    />
  );
  return (
    <Group gap={6}>
      {field('from', `First day${of ? ` of ${of}` : ''} (${zoneName(zone)})`)}
      {field('to', `Last day${of ? ` of ${of}` : ''} (${zoneName(zone)})`)}
      {problem && (
        <span className="unknown small" role="alert">
          {problem}
        </span>
      )}
    </Group>
  );
};
