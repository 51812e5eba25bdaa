import { readingOf, settingsOf } from '../../fixtures/open-dashboard.ts';
import type { Reading } from '../../lambda/dashboard/open-reading.ts';
import type { Settings } from '../../lambda/dashboard/open-settings.ts';
import { readingRoutes } from '../../lambda/dashboard/reading.ts';
import { settingsRoutes } from '../../lambda/dashboard/settings.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import type { HttpStackOptions } from '../../lambda/http/http-stack.ts';
import { serve } from '../http/invoke.ts';

/**
 * What an account sets and reads, as functions serve it, over the table and at the time of a test. It opens with the first call.
 *
 * @param replaced takes the place of what functions work with
 */
export const openDashboard = (
  table: Table,
  now: () => Date,
  replaced: Partial<Settings & Reading> = {},
  options: Partial<HttpStackOptions> = {},
) => {
  const open = () => {
    return serve(
      [
        ...settingsRoutes({ ...settingsOf(table, now), ...replaced }),
        ...readingRoutes({ ...readingOf(table, now), ...replaced }),
      ],
      options,
    );
  };
  let handler: ReturnType<typeof open> | undefined;
  return (...call: Parameters<ReturnType<typeof open>>) => {
    handler ??= open();
    return handler(...call);
  };
};
