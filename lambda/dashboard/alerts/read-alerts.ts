import type { Alerts } from '../../data/alerts/alerts.ts';
import type { Alert } from '../../domain/alerts/alert.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import { type FinalDependencies, finalFigure } from './final-figure.ts';
import type * as operations from './operations.ts';

interface AlertDependencies {
  readonly alerts: Pick<Alerts, 'page' | 'find' | 'acknowledge'>;
  readonly now: () => Date;
}

const view = ({ alertId, accountId: _, ...alert }: Alert) => ({
  ...alert,
  id: alertId,
  observedUsd: alert.unit === 'nanoUsd' ? usdOf(alert.observed) : null,
  limitUsd: alert.unit === 'nanoUsd' ? usdOf(alert.limit) : null,
});

export const listAlerts =
  ({ alerts }: Pick<AlertDependencies, 'alerts'>): Implementation<typeof operations.listAlerts> =>
  async ({ caller: { accountId }, query }) => {
    const { items, nextCursor } = await alerts.page(accountId, query);
    return { items: items.map(view), nextCursor };
  };

export const getAlert =
  ({
    alerts,
    ...dependencies
  }: Pick<AlertDependencies, 'alerts'> & FinalDependencies): Implementation<typeof operations.getAlert> =>
  async ({ caller: { accountId }, params: { id } }) => {
    const alert = await alerts.find(accountId, id);
    return { ...view(alert), final: await finalFigure(dependencies)(alert) };
  };

export const acknowledgeAlert =
  ({ alerts, now }: AlertDependencies): Implementation<typeof operations.acknowledgeAlert> =>
  async ({ caller: { accountId, userId }, params: { id } }) =>
    view(await alerts.acknowledge(accountId, id, { userId, at: now().toISOString() }));
