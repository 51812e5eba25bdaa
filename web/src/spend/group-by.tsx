import { Group, NativeSelect } from '@mantine/core';
import { commonDimensions } from '../../../lambda/domain/spend/dimensions.ts';
import { useApi } from '../app.ts';
import { canGroupBy, type Dimension, dimensionWord, type Filters, type GroupBy, type GroupSearch } from './filters.ts';

interface GroupBySelectsProps {
  readonly by: GroupBy;
  readonly filters: Filters;
  readonly onChange: (change: GroupSearch) => void;
}

export const GroupBySelects = ({ by, filters, onChange }: GroupBySelectsProps) => {
  const [first, second] = by;
  const { data, isLoadingError } = useApi().useQuery('get', '/dimensions');
  // Names that the account declared, now or before.
  const declared = data?.items.map(({ name }): Dimension => `dim:${name}`) ?? [];
  const all = [...new Set([...commonDimensions, ...declared, ...by])];
  const change = (value: Dimension) => {
    const keeps = second !== undefined && second !== value && canGroupBy([value, second], filters);
    onChange({ by: value, and: keeps ? second : undefined });
  };
  return (
    <Group gap={6}>
      <NativeSelect
        size="xs"
        w={140}
        aria-label="Group by"
        data={[
          ...all.map((value) => ({
            value: value as string,
            label: `By ${dimensionWord(value)}`,
            disabled: !canGroupBy([value], filters),
          })),
          ...(isLoadingError ? [{ value: '', label: '(dimensions could not be loaded)', disabled: true }] : []),
        ]}
        value={first}
        onChange={({ target }) => change(target.value as Dimension)}
      />
      <NativeSelect
        size="xs"
        w={128}
        aria-label="Then by"
        data={[
          { value: '', label: 'and …' },
          ...all
            .filter((value) => value !== first)
            .map((value) => ({
              value,
              label: `and ${dimensionWord(value)}`,
              disabled: !canGroupBy([first, value], filters),
            })),
        ]}
        value={second ?? ''}
        onChange={({ target }) => onChange({ and: target.value === '' ? undefined : (target.value as Dimension) })}
      />
    </Group>
  );
};
