import type { Api } from '../api/client.ts';
import { type Dimension, type Filters, parametersOf } from './filters.ts';
import type { Range } from './ranges.ts';

/** Makes the browser download CSV for people: by its mark Excel knows UTF-8. That of the API and of exports has none: programs read it. */
export const saveCsv = (name: string, content: BlobPart) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['\ufeff', content], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/**
 * Downloads the report as CSV. To read latency takes longer.
 *
 * @throws the API's error body
 */
export const exportSpend = async (
  { client }: Api,
  range: Range,
  groupBy: readonly Dimension[],
  filters: Filters,
  withLatency: boolean,
): Promise<void> => {
  const { data, error } = await client.GET('/spend/export.csv', {
    params: {
      query: {
        from: range.from,
        ...(range.to === undefined ? {} : { to: range.to }),
        granularity: range.granularity,
        ...(range.timeZone !== 'UTC' && { timeZone: range.timeZone }),
        groupBy: [...groupBy],
        ...(withLatency && { latency: 'true' as const }),
        ...parametersOf(filters),
      },
    },
    parseAs: 'blob',
  });
  if (error) throw error;
  saveCsv(`ai-spend-${range.from.slice(0, 10)}-by-${groupBy.join('-').replaceAll(':', '-')}.csv`, data as Blob);
};
