import type { Api } from '../api/client.ts';
import { reportQuery } from './use-spend.ts';

/** Makes the browser download CSV for people: by its mark Excel knows UTF-8. That of the API and of exports has none: programs read it. */
export const saveCsv = (name: string, content: BlobPart) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['\ufeff', content], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** Downloads the report as CSV. @throws the API's error body */
export const exportSpend = async ({ client }: Api, ...of: Parameters<typeof reportQuery>): Promise<void> => {
  const { data, error } = await client.GET('/spend/export.csv', {
    params: { query: reportQuery(...of) },
    parseAs: 'blob',
  });
  if (error) throw error;
  const [{ from }, by] = of;
  saveCsv(`ai-spend-${from.slice(0, 10)}-by-${by.join('-').replaceAll(':', '-')}.csv`, data as Blob);
};
