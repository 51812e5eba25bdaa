import { Button, Group, TextInput } from '@mantine/core';
import { X } from 'lucide-react';
import { useState } from 'react';
import { formatPeriod, utcDate } from '../format/time.ts';
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

/** The first and last day of a custom range. One of instants, to which mails and bars lead, is shown as it is, and can be left for its days. */
export const CustomDays = (props: CustomDaysProps) => {
  const { from, to } = props.days;
  if (![from, to].some(isInstant)) return <DayFields {...props} />;
  const text = formatPeriod(from, to);
  return (
    <Button
      size="xs"
      variant="default"
      rightSection={<X size={13} />}
      onClick={() => props.onChange({ from: from.slice(0, 10), to: to.slice(0, 10) })}
      aria-label={`Choose days instead of ${text}`}
    >
      {text}
    </Button>
  );
};

interface CustomDaysProps {
  /** Days, or instants of which the last is not included. */
  readonly days: Days;
  /** Which range, where a page has two: `the period before`. */
  readonly of?: string;
  readonly onChange: (days: Days) => void;
}

/** Typed text counts with Enter or when the field is left: the years 0002 and 0020 on the way to 2026 are no ranges. */
const DayFields = ({ days, of, onChange }: CustomDaysProps) => {
  const [typed, setTyped] = useState(days);
  const [problem, setProblem] = useState<string>();
  const today = utcDate(new Date());
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
      {field('from', `First day${of ? ` of ${of}` : ''} (UTC)`)}
      {field('to', `Last day${of ? ` of ${of}` : ''} (UTC)`)}
      {problem && (
        <span className="unknown small" role="alert">
          {problem}
        </span>
      )}
    </Group>
  );
};
