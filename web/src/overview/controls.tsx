import { ActionIcon, Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Tags } from 'lucide-react';
import { useApp, useMe } from '../app.ts';
import { DownloadButton } from '../components/download.tsx';
import { later } from '../components/later.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { type Filters, type GroupBy, groupWord } from '../spend/filters.ts';
import { GroupBySelects } from '../spend/group-by.tsx';
import { type MetricName, metrics } from '../spend/metrics.ts';
import { type Range, type RangeName, rangeLabels, rangeNames } from '../spend/ranges.ts';
import classes from './overview.module.css';

const CustomDays = later(async () => ({ default: (await import('../spend/custom-days.tsx')).CustomDays }));

const DeclareDimensions = later(() => import('./declare-dimensions.tsx'));

/** A mail's comparison is for its own period only. */
export const NO_OTHER_PERIOD = { compareFrom: undefined, compareTo: undefined } as const;

export const RangePicker = ({ range }: { readonly range: Range }) => {
  const { change } = usePageSearch('/members/');
  const pick = (name: string) =>
    change({
      range: name as RangeName,
      per: undefined,
      ...(name === 'custom'
        ? { ...range.days, zone: range.timeZone === 'UTC' ? undefined : range.timeZone }
        : { from: undefined, to: undefined, zone: undefined }),
      ...NO_OTHER_PERIOD,
    });
  const data = rangeNames.map((value) => ({ value, label: rangeLabels[value] }));
  const shown = { size: 'xs', 'aria-label': 'Range', data, value: range.name } as const;
  return (
    <Group gap="xs">
      <SegmentedControl {...shown} className={classes['ranges']} onChange={pick} />
      <NativeSelect
        {...shown}
        className={classes['range-list']}
        w={140}
        onChange={({ target }) => pick(target.value)}
      />
      {range.name === 'custom' && (
        <CustomDays
          days={range.days}
          zone={range.timeZone}
          onChange={(days) => change({ ...days, ...NO_OTHER_PERIOD })}
        />
      )}
    </Group>
  );
};

const DimensionsButton = () => {
  const [isOpen, { open, close }] = useDisclosure();
  const { may } = useMe();
  if (!may('dimensions:write')) return null;
  return (
    <>
      <ActionIcon variant="default" size={30} aria-label="Dimensions" title="Dimensions" onClick={open}>
        <Tags size={16} />
      </ActionIcon>
      {isOpen && <DeclareDimensions onClose={close} />}
    </>
  );
};

const granularityNames = { hour: 'Hours', day: 'Days', month: 'Months' } as const;

export interface OverviewView {
  readonly range: Range;
  readonly by: GroupBy;
  readonly metric: MetricName;
  readonly filters: Filters;
}

export const TrendControls = ({ range, by, metric, filters }: OverviewView) => {
  const { change } = usePageSearch('/members/');
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
        w={104}
        aria-label="Bars show"
        data={Object.entries(metrics).map(([value, { label }]) => ({ value, label }))}
        value={metric}
        onChange={({ target }) => change({ show: target.value as MetricName })}
      />
      <GroupBySelects by={by} filters={filters} onChange={change} />
      <DimensionsButton />
    </>
  );
};

export const ExportButton = ({ range, by, filters, metric }: OverviewView) => {
  const { api } = useApp();
  const download = async () => {
    const { exportSpend } = await import('../spend/export-spend.ts');
    await exportSpend(api, range, by, filters, metric === 'latency');
  };
  return <DownloadButton title={`Download this report by ${groupWord(by)}`} download={download} />;
};
