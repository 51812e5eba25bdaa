import { beforeEach } from '@jest/globals';
import { readingOf, settingsOf } from '../../fixtures/open-dashboard.ts';
import type { Reading } from '../../lambda/dashboard/open-reading.ts';
import type { Settings } from '../../lambda/dashboard/open-settings.ts';
import { readingRoutes } from '../../lambda/dashboard/reading.ts';
import { settingsRoutes } from '../../lambda/dashboard/settings.ts';
import { openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import type { HttpStackOptions } from '../../lambda/http/http-stack.ts';
import { newAccount } from '../data/new-account.ts';
import { callAs, serve } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';

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

/**
 * The same for the tests of a file, over its table. Each test has a new account, `caller`, and begins at the same time. A call is by the
 * caller, with what `as` changes of them.
 */
export const dashboardForTests = (
  replaced: Partial<Settings & Reading> = {},
  options: Partial<HttpStackOptions> = {},
) => {
  const table = tableForTests();
  const clock = new Date();
  const caller = {} as Awaited<ReturnType<typeof newAccount>>;
  beforeEach(async () => {
    clock.setTime(Date.parse('2026-11-20T16:30:00.000Z'));
    Object.assign(caller, await newAccount(table));
  });
  const handler = openDashboard(table, () => new Date(clock), replaced, options);
  /** The account's audit log, newest first. */
  const audited = async () =>
    (await openAuditLog(table).page(caller.accountId, { from: '2026', to: '2100', limit: 50 })).items;
  return { table, clock, caller, call: callAs(handler, caller), audited };
};
