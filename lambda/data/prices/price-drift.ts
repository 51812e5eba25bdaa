import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Day } from '../../domain/calendar/utc.ts';
import type { ReportedCosts } from '../../domain/price/reported-costs.ts';
import { update } from '../table/actions.ts';
import { parsePriceDriftSk, priceDriftKey, priceDriftPartition } from '../table/keys.ts';
import { itemsIn } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

const KEPT_DAYS = 40;

/** By day and model, of all accounts: what providers reported as cost, and what the price book has. */
export const openPriceDrift = (table: Table) => ({
  add: async (day: Day, { provider, model, requests, reportedNanoUsd, bookNanoUsd }: ReportedCosts): Promise<void> => {
    const add = 'ADD requests :requests, reportedNanoUsd :reportedNanoUsd, bookNanoUsd :bookNanoUsd';
    const expiresAt = Math.floor((Date.parse(day) + KEPT_DAYS * DAY_MS) / 1_000);
    await write(
      table,
      update(priceDriftKey(day, provider, model), `${add} SET expiresAt = :expiresAt`, null, {
        ...{ requests, reportedNanoUsd, bookNanoUsd, expiresAt },
      }),
    );
  },

  async *of(day: Day): AsyncGenerator<ReportedCosts> {
    const items = itemsIn(table, priceDriftPartition(day));
    for await (const { sk, requests, reportedNanoUsd, bookNanoUsd } of items)
      yield {
        ...parsePriceDriftSk(String(sk)),
        requests: Number(requests),
        reportedNanoUsd: Number(reportedNanoUsd),
        bookNanoUsd: Number(bookNanoUsd),
      };
  },
});

export type PriceDrift = ReturnType<typeof openPriceDrift>;
