/**
 * Every partition and sort key of the one table is built here and nowhere else.
 * No AWS imports: the gateway uses this module on its hot path.
 */

import type { AllocationName, CrossDimensionName, SpendDimensions } from '../../domain/spend/dimensions.ts';
import type { SessionCounter } from '../../domain/spend/sessions.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** ISO 8601 UTC day, `2026-11-20`. */
type Day = string;

/** Shards of partitions that many writers share; a partition accepts 1,000 writes a second. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
export const OUTBOX_SHARDS = 8;
/** The number of workers that can judge rules at a time. Rules that were stored with 8 shards stay where they are: readers take every shard. */
export const ACTIVE_RULE_SHARDS = 32;
export const ROLLUP_MARK_SHARDS = 8;
export const UNDELIVERED_SHARDS = 8;
/**
 * Shards of a busy account's month: partitions of a day's requests, and items of a busy counter. Shard 0 has the key that everything has
 * in a month that is not sharded. See lambda/data/ledger/sharding.ts.
 */
export const ACCOUNT_SHARDS = 32;
const shardPart = (shard: number): string => (shard === 0 ? '' : `#${String(shard).padStart(2, '0')}`);
/** After `~`, which no part of a counter's name begins with. */
const counterShardPart = (shard: number): string => shardPart(shard).replace('#', '#~');

const inAccount = (accountId: string, sk: string): Key => ({ pk: `ACCOUNT#${accountId}`, sk });
const inSpend = (accountId: string, sk: string): Key => ({ pk: spendPartition(accountId), sk });
const inBlocks = (accountId: string, sk: string): Key => ({ pk: `BLOCKS#${accountId}`, sk });
/** Sorted by the time (ISO 8601 UTC) from which something of an account is due. */
const dueInIndex = (partition: string, dueAt: string, accountId: string, name: string) => ({
  gsi1pk: partition,
  gsi1sk: `${dueAt}#${accountId}#${name}`,
});

export const accountKey = (accountId: string): Key => inAccount(accountId, 'META');
/**
 * Looked up by the gateway on admission: one read gives the account, its state and the key's.
 *
 * @param keyHash `secretHash` of the key: the table holds no key that would admit traffic
 */
export const serviceKeyKey = (keyHash: string): Key => ({ pk: `KEY#${keyHash}`, sk: 'META' });
/** The blocks of an account: a partition of its own, so that the gateway needs no right to read the account's other items. */
export const blocksKey = (accountId: string): Key => inBlocks(accountId, 'META');
/** Measurements of an account's budgets. */
export const measuresKey = (accountId: string): Key => inBlocks(accountId, 'MEASURES');
/** Spent and reserved sums of a budget in one period. Next to the blocks: the gateway writes it. */
export const reservedBudgetKey = (accountId: string, budgetId: string, periodId: string): Key =>
  inBlocks(accountId, `BUDGET#${budgetId}#${periodId}`);
/** The count of one value of a limit with `each` in one period. The value null has the requests without one. */
export const limitValueKey = (accountId: string, budgetId: string, periodId: string, of: string | null): Key =>
  inBlocks(accountId, `${limitValuesPrefix(budgetId, periodId)}${part(of)}`);
export const limitValuesPrefix = (budgetId: string, periodId: string): string => `EACH#${budgetId}#${periodId}#`;
/** The amount that somebody decided for one value of a limit with `each`. */
export const overrideKey = (accountId: string, budgetId: string, of: string | null): Key =>
  inBlocks(accountId, `${overridesPrefix(budgetId)}${part(of)}`);
export const overridesPrefix = (budgetId: string): string => `OVERRIDE#${budgetId}#`;
/** The value in the sort key of either. */
export const parseValueSk = (sk: string): string | null => value(sk.slice(sk.lastIndexOf('#') + 1));
/** The raise that somebody asks for, for one value of a limit with `each`. */
export const raiseKey = (accountId: string, budgetId: string, of: string): Key =>
  inAccount(accountId, `${raisesKey(accountId).sk}${budgetId}#${part(of)}`);
export const raisesKey = (accountId: string): Key => inAccount(accountId, 'RAISE#');
/** Requests from before a limit of each was made, which are still to be counted. */
export const uncountedKey = (accountId: string, budgetId: string): Key => inAccount(accountId, `UNCOUNTED#${budgetId}`);
export const ownPricesKey = (accountId: string): Key => inAccount(accountId, 'PRICES');
/** Accounts with prices of their own, whose months are closed and priced again. */
export const pricedAccountsPartition = 'PRICED_ACCOUNTS';
export const pricedAccountKey = (accountId: string): Key => ({ pk: pricedAccountsPartition, sk: accountId });
/** The account's own list of its service keys. */
export const accountServiceKeyKey = (accountId: string, keyId: string): Key => inAccount(accountId, `KEY#${keyId}`);
export const userKey = (userId: string): Key => ({ pk: `USER#${userId}`, sk: 'META' });
/** The code that proves a user's mail address, at most one at a time. */
export const addressCodeKey = (userId: string): Key => ({ pk: userKey(userId).pk, sk: 'ADDRESS_CODE' });
/** The account's own list of its users. */
export const accountUserKey = (accountId: string, userId: string): Key => inAccount(accountId, `USER#${userId}`);
export const projectKey = (accountId: string, projectId: string): Key => inAccount(accountId, `PROJECT#${projectId}`);
export const savedViewKey = (accountId: string, viewId: string): Key => inAccount(accountId, `VIEW#${viewId}`);
/** A decision about a finding of savings. */
export const savingKey = (accountId: string, findingId: string): Key => inAccount(accountId, `SAVING#${findingId}`);
/** An invitation of a mail address to the account. */
export const invitationKey = (accountId: string, invitationId: string): Key =>
  inAccount(accountId, `INVITATION#${invitationId}`);
/** How many invitations the account mailed on a day. */
export const invitationMailsKey = (accountId: string, day: Day): Key => inAccount(accountId, `INVITATION_MAILS#${day}`);
export const billKey = (accountId: string, provider: string, day: Day): Key =>
  inAccount(accountId, `BILL#${provider}#${day}`);
/** That a provider's bill is read, and when next. */
export const billConnectionKey = (accountId: string, provider: string): Key =>
  inAccount(accountId, `BILL_CONNECTION#${provider}`);
export const auditPartition = (accountId: string): string => `ACCOUNT#${accountId}#AUDIT`;
/** @param at ISO 8601 UTC */
export const auditKey = (accountId: string, at: string, auditId: string): Key => ({
  pk: auditPartition(accountId),
  sk: `${at}#${auditId}`,
});
/** The hash of the last entry. It sorts behind all of them. */
export const auditHeadKey = (accountId: string): Key => ({ pk: auditPartition(accountId), sk: 'HEAD' });
/** @param tokenHash `secretHash` of an API token */
export const apiTokenKey = (tokenHash: string): Key => ({ pk: `TOKEN#${tokenHash}`, sk: 'META' });
/** The account's own list of its API tokens. */
export const accountApiTokenKey = (accountId: string, tokenId: string): Key => inAccount(accountId, `TOKEN#${tokenId}`);
/** The account that uses an identity provider of the stage. */
export const signOnKey = (provider: string): Key => ({ pk: `SIGN_ON#${provider}`, sk: 'META' });
/** The deletion of an account that its owner asked for, and how far it is. */
export const deletionKey = (accountId: string): Key => inAccount(accountId, 'DELETION');
/** An archive of everything an account has, and how far it is. */
export const archiveKey = (accountId: string, archiveId: string): Key => inAccount(accountId, `ARCHIVE#${archiveId}`);
export const reportKey = (accountId: string, reportId: string): Key => inAccount(accountId, `REPORT#${reportId}`);
/** Content of a report for a period, and its deliveries: one for each period, and those that somebody asked for. */
export const reportRunKey = (accountId: string, reportId: string, period: string): Key =>
  inAccount(accountId, `REPORT_RUN#${reportId}#${period}`);
/** An address that follows the account's spend. */
export const destinationKey = (accountId: string, destinationId: string): Key =>
  inAccount(accountId, `DESTINATION#${destinationId}`);
/** Deletions, archives, bills, reports and destinations to work on, sorted by the time (ISO 8601 UTC) from which they are due. */
export const accountJobsIndexPartition = 'ACCOUNT_JOBS';
export const accountJobsIndexKey = (dueAt: string, accountId: string, sk: string) =>
  dueInIndex(accountJobsIndexPartition, dueAt, accountId, sk);
/** Says for a while that an account was deleted, so that its late usage events are dropped. It holds nothing else. */
export const deletedAccountKey = (accountId: string): Key => ({ pk: `DELETED#${accountId}`, sk: 'META' });
/** Requests of a subject in a window, for rate limits. @param windowStart ISO 8601 UTC */
export const requestCountKey = (name: string, windowStart: string): Key => ({ pk: `RATE#${name}`, sk: windowStart });
export const ruleKey = (accountId: string, ruleId: string): Key => inAccount(accountId, `RULE#${ruleId}`);
export const alertKey = (accountId: string, alertId: string): Key => inAccount(accountId, `ALERT#${alertId}`);
/** Guard: one alert per rule and period. */
export const firedKey = (accountId: string, ruleId: string, periodStart: string): Key =>
  inAccount(accountId, `FIRED#${ruleId}#${periodStart}`);
/** The rules of an account are next to each other in one shard, so its spend is read once for all of them. */
export const activeRulesIndexPartition = (shard: number): string => `ACTIVE_RULES#${shard}`;
export const activeRulesIndexKey = (shard: number, accountId: string, ruleId: string) => ({
  gsi1pk: activeRulesIndexPartition(shard),
  gsi1sk: `${accountId}#${ruleId}`,
});
/** How far the active rules of each shard have been judged. */
export const evaluationProgressKey = (): Key => ({ pk: 'EVALUATOR', sk: 'PROGRESS' });
/** When the rules of one account were judged last apart from the rounds. */
export const judgedAccountKey = (accountId: string): Key => inAccount(accountId, 'JUDGED');
/** Alerts and reports not yet delivered on every channel, sorted by the time (ISO 8601 UTC) of the next attempt. */
export const undeliveredIndexPartition = (shard: number): string => `UNDELIVERED#${shard}`;
export const undeliveredIndexKey = (shard: number, nextAttemptAt: string, id: string) => ({
  gsi1pk: undeliveredIndexPartition(shard),
  gsi1sk: `${nextAttemptAt}#${id}`,
});
/** Tracked requests of one calendar month (UTC), `2026-11`. The other shards are apart, where whoever may read spend may read them. */
export const monthKey = (accountId: string, month: string, shard = 0): Key =>
  (shard === 0 ? inAccount : inSpend)(accountId, `MONTH#${month}${shardPart(shard)}`);
/** The month in the sort key of a month counter. */
export const parseMonthSk = (sk: string): string => sk.split('#')[1] ?? '';
export const requestPartition = (accountId: string, day: Day, shard = 0): string =>
  `ACCOUNT#${accountId}#REQ#${day}${shardPart(shard)}`;
export const requestKey = (accountId: string, day: Day, requestId: string, shard = 0): Key => ({
  pk: requestPartition(accountId, day, shard),
  sk: requestId,
});
/** The members of a request record that its key holds. */
export const parseRequestKey = ({
  pk,
  sk,
}: Key): { readonly accountId: string; readonly requestId: string; readonly shard?: number } => {
  const [before = '', after = ''] = pk.split('#REQ#');
  const [, shard] = after.split('#');
  return {
    accountId: before.slice(accountKey('').pk.length),
    requestId: sk,
    ...(shard !== undefined && { shard: Number(shard) }),
  };
};
export const spendPartition = (accountId: string): string => `ACCOUNT#${accountId}#SPEND`;

/** Escapes `#`, which separates the parts of a sort key, and `%`. Null and the empty string stay different. */
const part = (value: string | null): string =>
  value === null ? '' : `=${value.replaceAll('%', '%25').replaceAll('#', '%23')}`;

const value = (escaped: string): string | null =>
  escaped === '' ? null : escaped.slice(1).replaceAll('%23', '#').replaceAll('%25', '%');

/** The dimensions of a spend counter as one string, in a fixed order. */
export const spendCounterName = ({ provider, model, tag, keyId, providerKey }: SpendDimensions): string =>
  [provider, model, tag, keyId, providerKey].map(part).join('#');

/**
 * One spend counter. A sort key may have 1,024 bytes. The event schema limits model and tag (128 UTF-16 units and 64 code points, at most
 * 640 bytes together, escapes included), which keeps the key below that.
 *
 * @param time `2026-11-20` for a day, `2026-11-20T16` for an hour
 */
export const spendCounterKey = (
  accountId: string,
  granularity: 'DAY' | 'HOUR',
  time: string,
  dimensions: SpendDimensions,
): Key => namedSpendCounterKey(accountId, granularity, time, spendCounterName(dimensions));

/** The same by spendCounterName. */
export const namedSpendCounterKey = (
  accountId: string,
  granularity: 'DAY' | 'HOUR',
  time: string,
  counterName: string,
  shard = 0,
): Key => inSpend(accountId, `${granularity}#${time}#${counterName}${counterShardPart(shard)}`);
/** The sort key that shard 0 of the same spend counter has. */
export const withoutShard = (spendCounterSk: string): string => spendCounterSk.replace(/#~\d+$/, '');

/** The time and dimensions in the sort key of a spend counter. */
export const parseSpendCounterSk = (sk: string): { readonly time: string; readonly dimensions: SpendDimensions } => {
  const [, time = '', provider = '', model = '', tag = '', keyId = '', providerKey = ''] = sk.split('#');
  return {
    time,
    dimensions: {
      provider: value(provider) ?? '',
      model: value(model),
      tag: value(tag),
      keyId: value(keyId),
      providerKey: value(providerKey),
    },
  };
};

/** Prefix of the counters of an allocation dimension. The name has no `#`: see DIMENSION_NAME. */
export const allocationPrefix = (allocation: AllocationName): string => `ALLOCATION#${allocation}`;

/** The dimensions of a spend counter of an allocation dimension as one string, in a fixed order. */
export const allocationCounterName = (allocation: AllocationName, dimensions: SpendDimensions): string =>
  [dimensions[allocation] ?? null, dimensions.provider, dimensions.model, dimensions.keyId].map(part).join('#');

/** One hour's spend counter of an allocation dimension. Values have at most 64 code points, which keeps the key below 1,024 bytes. */
export const allocationCounterKey = (
  accountId: string,
  allocation: AllocationName,
  hour: string,
  counterName: string,
  shard = 0,
): Key => inSpend(accountId, `${allocationPrefix(allocation)}#${hour}#${counterName}${counterShardPart(shard)}`);

/** The time and dimensions in the sort key of a spend counter of an allocation dimension. */
export const parseAllocationCounterSk = (
  sk: string,
): { readonly time: string; readonly dimensions: SpendDimensions } => {
  const [, allocation = '', time = '', own = '', provider = '', model = '', keyId = ''] = withoutShard(sk).split('#');
  return {
    time,
    dimensions: {
      provider: value(provider) ?? '',
      model: value(model),
      tag: null,
      keyId: value(keyId),
      providerKey: null,
      [allocation]: value(own),
    },
  };
};

/** Sort keys, days or times. Both are included, unless a reader says otherwise. */
export interface Bounds {
  readonly from: string;
  readonly to: string;
}

/** Bounds of a `BETWEEN` over sort keys `{prefix}#{time}…`, both times included; `$` is the character after `#`. */
export const timeRange = (prefix: string, from: string, to: string): Bounds => ({
  from: `${prefix}#${from}`,
  to: `${prefix}#${to}$`,
});

/** Above the id of every rule and alert, in keys. */
export const HIGHEST_ID = '~';

/** Sums of the sessions of an account and day. */
export const sessionPartition = (accountId: string, day: Day): string => `ACCOUNT#${accountId}#SESSIONS#${day}`;

/** Whose requests a session counter counts. The key is null in counters of before they were split by key, too. */
export type SessionCounterName = Omit<SessionCounter, 'counters' | 'firstHour' | 'lastHour'>;

/** As one string. All that is constant is part of the key, so that a transaction only adds. Ids are at most 64 characters of ASCII. */
export const sessionCounterName = ({ sessionId, agentId, parentAgentId, client, keyId }: SessionCounterName): string =>
  `${sessionPrefix(sessionId)}${[agentId, parentAgentId, client, keyId].map(part).join('#')}`;

/** @param counterName `sessionCounterName` */
export const sessionCounterKey = (accountId: string, day: Day, counterName: string, shard: number): Key => ({
  pk: sessionPartition(accountId, day),
  sk: `${counterName}${counterShardPart(shard)}`,
});

/** Prefix of the sort keys of a session. */
export const sessionPrefix = (sessionId: string): string => `${part(sessionId)}#`;

export const parseSessionCounterSk = (sk: string): SessionCounterName => {
  const [sessionId = '', agentId = '', parentAgentId = '', client = '', keyId = ''] = sk.split('#');
  return {
    sessionId: value(sessionId) ?? '',
    agentId: value(agentId),
    parentAgentId: value(parentAgentId),
    client: value(client),
    keyId: value(keyId),
  };
};

/** The counter slots of an account and day: which distinct spend counters it has made. */
export const counterSlotsKey = (accountId: string, day: Day): Key => inAccount(accountId, `CELLS#${day}`);

/** Marks a day or month whose summary differs, or may soon differ, from its counters. */
export const rollupMarkKey = (accountId: string, period: string): Key => inSpend(accountId, `UNSEALED#${period}`);
export const rollupMarkIndexPartition = (shard: number): string => `UNSEALED#${shard}`;
/** Sorted by the time (ISO 8601 UTC) from which the period may be rolled up. */
export const rollupMarkIndexKey = (shard: number, dueAt: string, accountId: string, period: string) =>
  dueInIndex(rollupMarkIndexPartition(shard), dueAt, accountId, period);

/** The export of a day: when and what was exported, and whether it is due (again). */
export const dayExportKey = (accountId: string, day: Day): Key => inSpend(accountId, `EXPORT#${day}`);
export const dayExportIndexPartition = (shard: number): string => `EXPORTS#${shard}`;
/** Sorted by the time (ISO 8601 UTC) since which the export is due. */
export const dayExportIndexKey = (shard: number, dueAt: string, accountId: string, day: Day) =>
  dueInIndex(dayExportIndexPartition(shard), dueAt, accountId, day);

/** Where the request records of a day are, once it waits to leave the table: see lambda/data/requests/day-files.ts. */
export const dayFileKey = (accountId: string, day: Day): Key => inSpend(accountId, `FILE#${day}`);
export const dayFileIndexPartition = (shard: number): string => `DAY_FILES#${shard}`;
/** Sorted by the time (ISO 8601 UTC) from which the next step is due. */
export const dayFileIndexKey = (shard: number, dueAt: string, accountId: string, day: Day) =>
  dueInIndex(dayFileIndexPartition(shard), dueAt, accountId, day);

/** Periods of summaries: days, months, and the hours of a day, which are stored under the day. */
type SummaryGranularity = 'HOUR' | 'DAY' | 'MONTH';
/**
 * For days and months, TOTALS also has the totals of each dimension of the crosses. For hours, each of these is a view of its own. An
 * allocation dimension always is.
 */
export type SummaryView = 'TOTALS' | CrossDimensionName | 'CELLS' | AllocationName;
/** Prefix of one view's summaries: SEALED#TOTALS#DAY, SEALED#model#HOUR, SEALED#CELLS#MONTH … */
export const summaryPrefix = (view: SummaryView, granularity: SummaryGranularity): string =>
  `SEALED#${view}#${granularity}`;
export const summaryKey = (
  accountId: string,
  view: SummaryView,
  granularity: SummaryGranularity,
  period: string,
  page: number,
): Key => inSpend(accountId, `${summaryPrefix(view, granularity)}#${period}#${String(page).padStart(3, '0')}`);

/** A tracking gap: requests that no event reports, sorted by the time (ISO 8601 UTC) of the first. */
export const trackingGapKey = (accountId: string, from: string, reportId: string): Key =>
  inSpend(accountId, `UNTRACKED#${from}#${reportId}`);

/** How the price feed stands: the newest version and the changes that wait. */
export const priceFeedKey = (): Key => ({ pk: 'PRICES', sk: 'FEED' });
export const priceVersionKey = (number: number): Key => ({
  pk: priceFeedKey().pk,
  sk: `VERSION#${String(number).padStart(10, '0')}`,
});
export const priceDriftPartition = (day: Day): string => `PRICE_DRIFT#${day}`;
/** Costs that providers reported on a day for a model, and what the price book has for the same usage. */
export const priceDriftKey = (day: Day, provider: string, model: string): Key => ({
  pk: priceDriftPartition(day),
  sk: [provider, model].map(part).join('#'),
});
export const parsePriceDriftSk = (sk: string): { readonly provider: string; readonly model: string } => {
  const [provider, model] = sk.split('#').map(value);
  return { provider: provider ?? '', model: model ?? '' };
};
/** How far the requests of before a version have been priced again. */
export const repricingKey = (): Key => ({ pk: 'REPRICING', sk: 'PROGRESS' });

export const MODEL_USE_SHARDS = 8;
/** Which accounts used which models on a day. */
export const modelUsePartition = (day: Day, shard: number): string => `MODEL_USE#${day}#${shard}`;
export const modelUseKey = (day: Day, shard: number, accountId: string, provider: string, model: string): Key => ({
  pk: modelUsePartition(day, shard),
  sk: [accountId, provider, model].map(part).join('#'),
});
/** Begins the sort keys of an account's uses. */
export const modelUsePrefix = (accountId: string): string => `${part(accountId)}#`;
export const parseModelUseSk = (
  sk: string,
): { readonly accountId: string; readonly provider: string; readonly model: string } => {
  const [accountId = '', provider = '', model = ''] = sk.split('#').map(value);
  return { accountId: accountId ?? '', provider: provider ?? '', model: model ?? '' };
};
/** Effect of a version of the price lists on the costs of a day. */
export const priceChangePrefix = 'PRICE_CHANGE';
export const priceChangeKey = (accountId: string, version: number, day: Day): Key =>
  inSpend(accountId, `${priceChangePrefix}#${String(version).padStart(10, '0')}#${day}`);

/** Guard: a response that can be fetched again (`GET /v1/responses/{id}`) is counted with one request only. */
export const countedResponseKey = (accountId: string, provider: string, responseId: string): Key =>
  inAccount(accountId, `ANSWER#${provider}#${responseId}`);

/** An outbox entry: a usage event that the queue did not accept. The sweep records it within a minute. */
export const outboxPartition = (shard: number): string => `PARKED#${shard}`;
export const outboxKey = (shard: number, requestId: string, kind: 'open' | 'close' | 'untracked'): Key => ({
  pk: outboxPartition(shard),
  sk: `${requestId}#${kind}`,
});

/** An outbox entry that can never be recorded, kept for an operator. */
export const refusedEventKey = (day: Day, id: string): Key => ({ pk: `REFUSED#${day}`, sk: id });

export const stripeEventKey = (eventId: string): Key => ({ pk: `STRIPE#${eventId}`, sk: 'META' });
/** Whose customer it is, or was. */
export const stripeCustomerKey = (customerId: string): Key => ({ pk: `STRIPE_CUSTOMER#${customerId}`, sk: 'META' });
/** All of them, for the daily reconciliation. One partition: customers are made one by one, and read once a day. */
export const stripeCustomersIndexPartition = 'STRIPE_CUSTOMERS';
export const stripeCustomersIndexKey = (customerId: string) => ({
  gsi1pk: stripeCustomersIndexPartition,
  gsi1sk: customerId,
});
