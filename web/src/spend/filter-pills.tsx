import { Button, Group, Pill } from '@mantine/core';
import { type Dimension, dimensionName, type Filters, filterEntries } from './filters.ts';
import { type KeyNames, valueName } from './groups.ts';

interface FilterPillsProps {
  readonly filters: Filters;
  readonly keyNames: KeyNames;
  readonly onChange: (change: Filters) => void;
}

export const FilterPills = ({ filters, keyNames, onChange }: FilterPillsProps) => {
  const entries = filterEntries(filters);
  const pills = entries.flatMap(([dimension, values]) => values.map((value) => ({ dimension, value })));
  if (pills.length === 0) return null;
  const without = (dimension: Dimension, value: string) => {
    const others = (filters[dimension] ?? []).filter((each) => each !== value);
    onChange({ [dimension]: others.length === 0 ? undefined : others });
  };
  return (
    <Group gap={8}>
      {pills.map(({ dimension, value }) => {
        const name = `${dimensionName(dimension)}: ${valueName(dimension, value, keyNames)}`;
        return (
          <Pill
            key={`${dimension} ${value}`}
            size="md"
            bg="var(--sunken)"
            withRemoveButton
            onRemove={() => without(dimension, value)}
            removeButtonProps={{ 'aria-label': `Remove ${name}`, 'aria-hidden': false, tabIndex: 0 }}
          >
            {name}
          </Pill>
        );
      })}
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => onChange(Object.fromEntries(entries.map(([dimension]) => [dimension, undefined])))}
      >
        Clear
      </Button>
    </Group>
  );
};
