import { openReading, type Reading } from '../../lambda/dashboard/open-reading.ts';
import { openSettings, type Settings } from '../../lambda/dashboard/open-settings.ts';
import { readingRoutes } from '../../lambda/dashboard/reading.ts';
import { settingsRoutes } from '../../lambda/dashboard/settings.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { type HttpStackOptions, httpStack } from '../../lambda/http/http-stack.ts';
import { APP_CLIENT_ID, countRequest, membershipOf, silentLogger } from '../http/invoke.ts';

const environment = (TABLE_NAME: string) => ({
  TABLE_NAME,
  OBJECT_BUCKET: 'objects',
  CORS_ORIGINS: [],
  USER_POOL_CLIENT_ID: APP_CLIENT_ID,
  DASHBOARD_URL: 'https://dashboard.example.com',
  MAIL_FROM: 'alerts@example.com',
  MAIL_CONFIGURATION_SET: 'mail',
  WEBHOOK_TARGETS: { ports: [], internalHosts: [] },
});

/** What the function `settings` works with, over the table and at the time of a test. */
export const settingsOf = (table: Table, now: () => Date) =>
  openSettings(table, environment(table.name), silentLogger(), now);

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
    const logger = silentLogger();
    return httpStack(
      [
        ...settingsRoutes({ ...settingsOf(table, now), ...replaced }),
        ...readingRoutes({ ...openReading(table, environment(table.name), logger, now), ...replaced }),
      ],
      { logger, corsOrigins: [], membershipOf, countRequest, ...options },
    );
  };
  let handler: ReturnType<typeof open> | undefined;
  return (...call: Parameters<ReturnType<typeof open>>) => {
    handler ??= open();
    return handler(...call);
  };
};
