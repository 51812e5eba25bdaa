import { Button, Group, NativeSelect, Pill, SegmentedControl } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useApi, useApp } from '../app.ts';
import { notifyProblem } from '../components/notify.ts';
import { utcDate } from '../format/time.ts';
import {
  canGroupBy,
  type Dimension,
  dimensionName,
  dimensions,
  dimensionWord,
  type Filters,
  filterEntries,
} from '../spend/filters.ts';
import { type KeyNames, valueName } from '../spend/groups.ts';
import { type Range, type RangeName, rangeLabels, rangeNames } from '../spend/ranges.ts';
import { CustomDays } from './custom-days.tsx';
import { DimensionsButton } from './declare-dimensions.tsx';
import { exportSpend } from './export-spend.ts';
import classes from './overview.module.css';
import type { OverviewSearch } from './search.ts';

/** The overview's settings are in the URL, so that a view can be shared and the back button works. */
export const useOverviewSearch = () => {
  const search = getRouteApi('/members/').useSearch();
  const navigate = useNavigate({ from: '/' });
  const change = (part: OverviewSearch) =>
    void navigate({
      search: (now) => ({ ...now, ...part }),
      resetScroll: false,
      // Arrow keys go through all choices: those on the way are no views to come back to.
      replace: document.activeElement?.matches('[type=radio]:focus-visible, select:focus-visible') ?? false,
    });
  return { search, change };
};

export const RangePicker = ({ range }: { readonly range: Range }) => {
  const { change } = useOverviewSearch();
  const pick = (name: string) =>
    change({
      range: name as RangeName,
      per: undefined,
      ...(name === 'custom'
        ? { from: range.from.slice(0, 10), to: range.to ?? utcDate(new Date()) }
        : { from: undefined, to: undefined }),
    });
  const options = rangeNames.map((value) => ({ value, label: rangeLabels[value] }));
  return (
    <Group gap="xs">
      <SegmentedControl
        className="wide-only"
        size="xs"
        aria-label="Range"
        data={options}
        value={range.name}
        onChange={pick}
      />
      <NativeSelect
        className="narrow-only"
        size="sm"
        w={140}
        aria-label="Range"
        data={options}
        value={range.name}
        onChange={({ target }) => pick(target.value)}
      />
      {range.name === 'custom' && (
        <CustomDays
          key={`${range.from} ${range.to}`}
          days={{ from: range.from.slice(0, 10), to: range.to ?? utcDate(new Date()) }}
          onChange={(days) => change({ ...days })}
        />
      )}
    </Group>
  );
};

const granularityNames = { hour: 'Hours', day: 'Days', month: 'Months' } as const;

/** Names that the account declared, now or before. */
const useDeclared = (): readonly Dimension[] => {
  const { data } = useApi().useQuery('get', '/dimensions');
  return data?.items.map(({ name }): Dimension => `dim:${name}`) ?? [];
};

export const TrendControls = ({
  range,
  by,
  filters,
}: {
  readonly range: Range;
  readonly by: Dimension;
  readonly filters: Filters;
}) => {
  const { change } = useOverviewSearch();
  const all = new Set([...dimensions, ...useDeclared(), by]);
  return (
    <>
      {range.granularities.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="Bars"
          data={range.granularities.map((value) => ({ value, label: granularityNames[value] }))}
          value={range.granularity}
          onChange={(per) => change({ per: per as Range['granularity'] })}
        />
      )}
      <NativeSelect
        size="xs"
        w={148}
        aria-label="Group by"
        data={[...all].map((value) => ({
          value,
          label: `By ${dimensionWord(value)}`,
          disabled: !canGroupBy(value, filters),
        }))}
        value={by}
        onChange={({ target }) => change({ by: target.value as Dimension })}
      />
      <DimensionsButton />
    </>
  );
};

/** The active filters, each with a button to remove it. */
export const FilterPills = ({ filters, keyNames }: { readonly filters: Filters; readonly keyNames: KeyNames }) => {
  const { change } = useOverviewSearch();
  const entries = filterEntries(filters);
  const pills = entries.flatMap(([dimension, values]) => values.map((value) => ({ dimension, value })));
  if (pills.length === 0) return null;
  const without = (dimension: Dimension, value: string) => {
    const others = (filters[dimension] ?? []).filter((each) => each !== value);
    change({ [dimension]: others.length === 0 ? undefined : others });
  };
  return (
    <div className={classes['pills']}>
      {pills.map(({ dimension, value }) => {
        const name = `${dimensionName(dimension)}: ${valueName(dimension, value, keyNames)}`;
        return (
          <Pill
            key={`${dimension} ${value}`}
            size="md"
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
        onClick={() => change(Object.fromEntries(entries.map(([dimension]) => [dimension, undefined])))}
      >
        Clear
      </Button>
    </div>
  );
};

/** Downloads the report on the page as CSV. */
export const ExportButton = ({
  range,
  by,
  filters,
}: {
  readonly range: Range;
  readonly by: Dimension;
  readonly filters: Filters;
}) => {
  const { api } = useApp();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    await exportSpend(api, range, [by], filters).catch(notifyProblem('The export failed'));
    setBusy(false);
  };
  return (
    <Button
      size="xs"
      variant="default"
      loading={busy}
      leftSection={<Download size={14} />}
      title={`Download this report by ${dimensionWord(by)}`}
      onClick={download}
    >
      CSV
    </Button>
  );
};
