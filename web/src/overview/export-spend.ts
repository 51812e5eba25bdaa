import type { Dimension } from '../api/answers.ts';
import type { Api } from '../api/client.ts';
import type { Filters } from '../spend/filters.ts';
import type { Span } from '../spend/spans.ts';

/** Hands a text to the browser as a file. */
const saveFile = (name: string, content: Blob) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** Downloads the report as CSV. @throws the API's error body */
export const exportSpend = async (
  { client }: Api,
  span: Span,
  groupBy: readonly Dimension[],
  filters: Filters,
): Promise<void> => {
  const { data, error } = await client.GET('/spend/export.csv', {
    params: {
      query: {
        from: span.from,
        ...(span.to === undefined ? {} : { to: span.to }),
        granularity: span.granularity,
        groupBy: [...groupBy],
        ...(filters as object),
      },
    },
    parseAs: 'blob',
  });
  if (error) throw error;
  saveFile(`ai-spend-${span.from.slice(0, 10)}-by-${groupBy.join('-')}.csv`, data as Blob);
};
