import { openUsers } from '../data/accounts/users.ts';
import { openAlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openReports } from '../data/reports/reports.ts';
import type { Table } from '../data/table/table.ts';
import { type DeliveryDependencies, deliverAlert } from './deliver-alert.ts';
import { deliverPending, type PendingDependencies } from './deliver-pending.ts';

export type DeliveryOptions = Pick<DeliveryDependencies, 'sendMail' | 'postWebhook' | 'dashboardUrl' | 'now'> &
  Partial<Pick<DeliveryDependencies, 'users'>>;

/** Sends an alert or report of one table. The options say how mails and webhooks are sent. */
export const openDelivery = (table: Table, { users = openUsers(table), ...options }: DeliveryOptions) =>
  deliverAlert({
    deliveries: openAlertDeliveries(table),
    rules: openRules(table),
    reports: openReports(table),
    users,
    ...options,
  });

/** Delivers the pending alerts and reports of one table. */
export const openPending = (table: Table, options: DeliveryOptions & Pick<PendingDependencies, 'logger'>) =>
  deliverPending({
    deliveries: openAlertDeliveries(table),
    deliver: openDelivery(table, options),
    now: options.now,
    logger: options.logger,
  });
