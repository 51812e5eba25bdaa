import type { Logger } from '@aws-lambda-powertools/logger';
import { dayIn } from '../../domain/calendar/time-zones.ts';
import { endOf } from '../../domain/calendar/utc.ts';
import { findingsIn } from '../../domain/savings/findings.ts';
import { whatIf } from '../../domain/savings/what-if.ts';
import { moneyAt } from '../../domain/spend/display-currency.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { timeOfRequestId } from '../../domain/usage/request-id.ts';
import { openApiTokens } from '../accounts/api-tokens.ts';
import { openOwnPrices } from '../accounts/own-prices.ts';
import { openServiceKeys } from '../accounts/service-keys.ts';
import { openUsers } from '../accounts/users.ts';
import { openNewestBook } from '../prices/newest-book.ts';
import { openPriceVersions } from '../prices/price-versions.ts';
import { requestCursor } from '../requests/request-pages.ts';
import type { openRequests } from '../requests/requests.ts';
import type { Bounds } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { openReports } from './reports.ts';

/** A page that is filtered has fewer, and may have none. */
const PAGE_SIZE = 1_000;
const MAX_PAGES = 20;

/** From when on the pages before a cursor have the requests. */
const readFromOf = (accountId: string, cursor: string): string => {
  const { day, requestId } = requestCursor.read(accountId, cursor);
  return new Date((requestId && timeOfRequestId(requestId)) || endOf(day)).toISOString();
};

type Requests = Pick<ReturnType<typeof openRequests>, 'page'>;

/** Reads what savings are computed from. Prices are those of the newest price book, or of the one in the code if that cannot be read. */
export const openSavings = (table: Table, requests: Requests, logger: Pick<Logger, 'error'>) => {
  const [keys, users, tokens] = [openServiceKeys(table), openUsers(table), openApiTokens(table)];
  const ownPrices = openOwnPrices(table);
  const { calendar } = openReports(table);
  const loadBook = openNewestBook({
    versions: openPriceVersions(table),
    onFallback: (error) => logger.error('Newest prices not read', { errorName: error.name }),
  });

  /** The newest requests of a range, and from when on they were read. Those that this version cannot read make them incomplete, too. */
  const readRecords = async (
    accountId: string,
    { from, to }: Bounds,
    filter: NonNullable<Parameters<Requests['page']>[1]['filter']>,
  ) => {
    const records: RequestRecord[] = [];
    let cursor: string | undefined;
    let [pages, unreadable] = [0, 0];
    do {
      const page = await requests.page(accountId, { from, to, filter, limit: PAGE_SIZE, cursor });
      records.push(...page.items);
      unreadable += page.unreadableRequests;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && ++pages < MAX_PAGES);
    return {
      records,
      isComplete: cursor === undefined && unreadable === 0,
      readFrom: cursor === undefined ? from : readFromOf(accountId, cursor),
    };
  };

  const readPricing = async (accountId: string) => {
    const [{ own }, book] = await Promise.all([ownPrices.read(accountId), loadBook()]);
    return { own, pricing: { book, accountPrices: await ownPrices.accountPricesOf(accountId, own) } };
  };

  return {
    readRecords,
    readPricing,
    whatIf,

    /** @param keyIds of who sees a part of the account: the own prices, limits and tokens of all are not shown to them */
    readFindings: async (accountId: string, { from, to }: Bounds, keyIds?: ReadonlySet<string>) => {
      const [{ records, isComplete, readFrom }, { own, pricing }, listed, members, programs, { timeZone }] =
        await Promise.all([
          readRecords(accountId, { from, to }, { keyIds }),
          readPricing(accountId),
          keys.listActive(accountId),
          users.recipients(accountId),
          tokens.userIds(accountId),
          calendar(accountId),
        ]);
      const owners = new Set([...members.map(({ userId }) => userId), ...programs]);
      const last = new Date(Date.parse(to) - 1).toISOString();
      const money = moneyAt(own.currency, last);
      const findings = findingsIn(records, {
        pricing,
        own: keyIds ? { ...own, prices: [] } : own,
        keys: listed.map(({ keyId, name, ownerUserId = null }) => ({
          ...{ keyId, name },
          isOrphan: ownerUserId !== null && !owners.has(ownerUserId),
        })),
        from: new Date(readFrom),
        to: new Date(to),
        money,
        dayOf: (at) => dayIn(timeZone, at),
      });
      return {
        findings: keyIds ? findings.filter(({ scope }) => scope.limit === undefined) : findings,
        ...{ isComplete, readFrom, requests: records.length, currency: own.currency, money },
      };
    },
  };
};
