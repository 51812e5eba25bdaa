import type { Api } from '../api/client.ts';
import { type Dimension, type Filters, parametersOf } from './filters.ts';
import type { Range } from './ranges.ts';

/** Makes the browser download a file. */
export const saveFile = (name: string, content: Blob) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
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
  saveFile(`ai-spend-${range.from.slice(0, 10)}-by-${groupBy.join('-').replaceAll(':', '-')}.csv`, data as Blob);
};
