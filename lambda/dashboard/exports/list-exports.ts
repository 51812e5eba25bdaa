import type { DayExports, Exported } from '../../data/exports/day-exports.ts';
import { permits } from '../../domain/accounts/permissions.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { addDays, dayOf } from '../../domain/calendar/utc.ts';
import { ValidationError } from '../../domain/errors.ts';
import { datasetNames, MAX_LISTED_DAYS } from '../../domain/exports/datasets.ts';
import { exportKey } from '../../domain/object-keys.ts';
import type { Implementation } from '../../http/operation.ts';
import type { ObjectStore } from '../../integrations/object-store.ts';
import type { listExports as operation } from './operations.ts';

interface ListExportsDependencies {
  readonly dayExports: Pick<DayExports, 'list'>;
  readonly objects: Pick<ObjectStore, 'signGet'>;
  readonly now: () => Date;
}

const DEFAULT_DAYS = 30;
const LINK_SECONDS = 900;

/** Whether the files of request records may be deleted by now. */
const hasExpired = ({ at, requestRetentionDays }: Exported, now: Date): boolean =>
  requestRetentionDays !== undefined && Date.parse(at) + requestRetentionDays * DAY_MS <= now.getTime();

export const listExports =
  ({ dayExports, objects, now }: ListExportsDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId, role }, query }) => {
    const to = query.to ?? dayOf(now().toISOString());
    const from = query.from ?? addDays(to, -DEFAULT_DAYS);
    if (from > to || addDays(from, MAX_LISTED_DAYS) <= to)
      throw new ValidationError([{ path: 'from', message: `must be up to ${MAX_LISTED_DAYS - 1} days before to` }]);
    const allowed = datasetNames.filter((name) => name !== 'requests' || permits(role, 'requests:read'));
    const names = allowed.filter((name) => query.dataset === undefined || name === query.dataset);
    const urlExpiresAt = new Date(now().getTime() + LINK_SECONDS * 1_000).toISOString();
    const items = [];
    for (const { day, exported } of await dayExports.list(accountId, from, to)) {
      for (const dataset of names) {
        const size = exported.files[`${dataset}/${query.format}`];
        if (size === undefined) continue;
        if (dataset === 'requests' && hasExpired(exported, now())) continue;
        const { at: exportedAt, requests, costNanoUsd, unpricedRequests } = exported;
        const url = await objects.signGet(exportKey(accountId, dataset, query.format, day), LINK_SECONDS);
        const { rows, bytes } = size;
        items.push({
          day,
          dataset,
          format: query.format,
          exportedAt,
          rows,
          bytes,
          requests,
          costNanoUsd,
          unpricedRequests,
          url,
          urlExpiresAt,
        });
      }
    }
    return { items };
  };
