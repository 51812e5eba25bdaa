import type { Key } from '../../lambda/data/table/keys.ts';
import * as keys from '../../lambda/data/table/keys.ts';
import { shardOf, type Table } from '../../lambda/data/table/table.ts';

/** Ids and hashes of one account, all its own. */
export interface Ids {
  readonly accountId: string;
  /** Part of every other id. */
  readonly mark: string;
  readonly day: string;
}

const hash = ({ mark }: Ids, name: string) => `${name}${mark}`.padEnd(43, 'x');
const dimensions = { provider: 'openai', model: 'm', tag: 't', keyId: 'k', providerKey: null };

/** Every item that an account has under a key. */
type Samples = (ids: Ids) => readonly Key[];

const one =
  (item: (ids: Ids) => Key): Samples =>
  (ids) => [item(ids)];

/** Keys under which an account has nothing, and why. */
export const ofNoAccount: Readonly<Record<string, string>> = {
  evaluationProgressKey: 'of all rules',
  priceFeedKey: 'published prices',
  priceVersionKey: 'published prices',
  priceDriftKey: 'sums of a model, of all accounts',
  repricingKey: 'of all accounts',
  requestCountKey: 'a hash of an address or account, which expires with its window',
  stripeEventKey: 'an id of Stripe, without account or customer',
  deletedAccountKey: 'says that the account is deleted; it is what may be left, for 30 days',
  raisesKey: 'where the raises of an account begin',
  deletionKey: 'the deletion itself: the test requests it',
};

/** A row for each function of lambda/data/table/keys.ts that makes a key. */
export const samples: Readonly<Record<string, Samples>> = {
  accountKey: one((ids) => ({
    ...keys.accountKey(ids.accountId),
    accountId: ids.accountId,
    accountKey: `svc_${ids.mark}`,
    status: 'active',
    plan: 'PRO',
    billingStatus: 'ACTIVE',
    ownerUserId: `owner${ids.mark}`,
    activeKeys: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    stripeCustomerId: `cus_${ids.mark}`,
    signOn: { provider: `Provider${ids.mark}`, defaultRole: 'viewer' },
  })),
  serviceKeyKey: (ids) =>
    ['key', 'former'].map((name) => ({
      ...keys.serviceKeyKey(hash(ids, name)),
      accountId: ids.accountId,
      keyId: 'k',
      keyStatus: 'active',
      accountStatus: 'active',
    })),
  accountServiceKeyKey: one((ids) => ({
    ...keys.accountServiceKeyKey(ids.accountId, 'k'),
    keyId: 'k',
    name: 'default',
    status: 'active',
    keyHash: hash(ids, 'key'),
    maskedKey: 'svc_…',
    createdAt: '2026-01-01T00:00:00.000Z',
    projectId: 'default',
    ownerUserId: `owner${ids.mark}`,
    former: [{ keyHash: hash(ids, 'former'), maskedKey: 'svc_…', validUntil: '2026-11-21T00:00:00.000Z' }],
  })),
  blocksKey: one((ids) => ({ ...keys.blocksKey(ids.accountId), version: 1, blocks: [] })),
  measuresKey: one((ids) => ({ ...keys.measuresKey(ids.accountId), json: '{}' })),
  reservedBudgetKey: one((ids) => ({ ...keys.reservedBudgetKey(ids.accountId, 'b1', ids.day), committed: 1 })),
  limitValueKey: one((ids) => ({
    ...keys.limitValueKey(ids.accountId, 'b2', ids.day, `member${ids.mark}`),
    finishedNanoUsd: 1,
  })),
  overrideKey: one((ids) => ({ ...keys.overrideKey(ids.accountId, 'b2', `member${ids.mark}`), amountNanoUsd: 1 })),
  raiseKey: one((ids) => ({ ...keys.raiseKey(ids.accountId, 'b2', `member${ids.mark}`), reason: 'more' })),
  uncountedKey: one((ids) => ({ ...keys.uncountedKey(ids.accountId, 'b2'), createdAt: '', startsAt: '' })),
  userKey: (ids) =>
    ['owner', 'member', 'program'].map((name) => ({
      ...keys.userKey(`${name}${ids.mark}`),
      userId: `${name}${ids.mark}`,
      accountId: ids.accountId,
      email: `${name}@example.com`,
      lastName: 'Lovelace',
    })),
  addressCodeKey: one((ids) => ({ ...keys.addressCodeKey(`member${ids.mark}`), codeHash: hash(ids, 'code') })),
  accountUserKey: (ids) =>
    ['owner', 'member'].map((name) => ({
      ...keys.accountUserKey(ids.accountId, `${name}${ids.mark}`),
      userId: `${name}${ids.mark}`,
      email: `${name}@example.com`,
      firstName: 'Ada',
    })),
  projectKey: one((ids) => ({ ...keys.projectKey(ids.accountId, 'p1'), projectId: 'p1', name: 'Search' })),
  savedViewKey: one((ids) => ({
    ...keys.savedViewKey(ids.accountId, 'v1'),
    viewId: 'v1',
    name: 'This month',
    page: 'overview',
    search: 'range=month',
  })),
  savingKey: one((ids) => ({ ...keys.savingKey(ids.accountId, 'f1'), findingId: 'f1', decision: 'watched' })),
  invitationKey: one((ids) => ({
    ...keys.invitationKey(ids.accountId, 'i1'),
    email: 'new@example.com',
    tokenHash: hash(ids, 'invitation'),
  })),
  invitationMailsKey: one((ids) => ({ ...keys.invitationMailsKey(ids.accountId, ids.day), mails: 1 })),
  auditKey: one((ids) => ({
    ...keys.auditKey(ids.accountId, `${ids.day}T10:00:00.000Z`, 'a1'),
    auditId: 'a1',
    action: 'key.created',
    accountId: ids.accountId,
  })),
  auditHeadKey: one((ids) => ({ ...keys.auditHeadKey(ids.accountId), last: { hash: 'h', until: 2_000_000_000 } })),
  apiTokenKey: one((ids) => ({ ...keys.apiTokenKey(hash(ids, 'token')), accountId: ids.accountId, tokenId: 't1' })),
  accountApiTokenKey: one((ids) => ({
    ...keys.accountApiTokenKey(ids.accountId, 't1'),
    tokenId: 't1',
    name: 'ci',
    tokenHash: hash(ids, 'token'),
    userId: `program${ids.mark}`,
  })),
  ownPricesKey: one((ids) => ({ ...keys.ownPricesKey(ids.accountId), version: 1, json: '{"prices":[]}' })),
  pricedAccountKey: one((ids) => keys.pricedAccountKey(ids.accountId)),
  signOnKey: one((ids) => ({ ...keys.signOnKey(`Provider${ids.mark}`), accountId: ids.accountId })),
  archiveKey: one((ids) => ({
    ...keys.archiveKey(ids.accountId, 'ar1'),
    kind: 'archive',
    accountId: ids.accountId,
    archiveId: 'ar1',
    status: 'ready',
    checkpoint: { uploadId: `upload${ids.mark}` },
  })),
  billKey: one((ids) => ({ ...keys.billKey(ids.accountId, 'openai', ids.day), day: ids.day, lines: [], usage: [] })),
  billConnectionKey: one((ids) => ({
    ...keys.billConnectionKey(ids.accountId, 'openai'),
    kind: 'bill',
    accountId: ids.accountId,
    provider: 'openai',
    connectedAt: '2026-01-01T00:00:00.000Z',
    connectedBy: 'ada@example.com',
  })),
  destinationKey: one((ids) => ({
    ...keys.destinationKey(ids.accountId, 'd1'),
    ...keys.accountJobsIndexKey('2099-01-01T00:00:00.000Z', ids.accountId, 'DESTINATION#d1'),
    kind: 'destination',
    name: 'Warehouse',
    url: 'https://example.com/manifests',
    secret: `whsec${ids.mark}`,
    headers: { authorization: `Bearer ${ids.mark}` },
  })),
  reportKey: one((ids) => ({
    ...keys.reportKey(ids.accountId, 're1'),
    ...keys.accountJobsIndexKey('2099-01-01T00:00:00.000Z', ids.accountId, 'REPORT#re1'),
    kind: 'report',
    name: 'Weekly spend',
    webhook: { url: 'https://example.com/hook', secret: `whsec${ids.mark}` },
  })),
  reportRunKey: one((ids) => ({
    ...keys.reportRunKey(ids.accountId, 're1', '2026-11-16#weekly'),
    ...keys.undeliveredIndexKey(1, '2026-11-23T08:00:00.000Z', 're1'),
    name: 'Weekly spend',
  })),
  ruleKey: one((ids) => ({
    ...keys.ruleKey(ids.accountId, 'r1'),
    ...keys.activeRulesIndexKey(3, ids.accountId, 'r1'),
    name: 'Daily limit',
    webhook: { url: 'https://example.com/hook', secret: `whsec${ids.mark}` },
  })),
  alertKey: one((ids) => ({
    ...keys.alertKey(ids.accountId, 'al1'),
    ...keys.undeliveredIndexKey(1, '2026-11-20T10:00:00.000Z', 'al1'),
    text: 'over',
  })),
  firedKey: one((ids) => keys.firedKey(ids.accountId, 'r1', ids.day)),
  judgedAccountKey: one((ids) => keys.judgedAccountKey(ids.accountId)),
  monthKey: (ids) => [
    { ...keys.monthKey(ids.accountId, ids.day.slice(0, 7)), trackedRequests: 3 },
    { ...keys.monthKey(ids.accountId, ids.day.slice(0, 7), 5), trackedRequests: 3 },
  ],
  requestKey: (ids) => [
    keys.requestKey(ids.accountId, ids.day, 'q1'),
    keys.requestKey(ids.accountId, ids.day, 'q2', 31),
    // As long ago as a record is kept.
    keys.requestKey(ids.accountId, '2025-10-16', 'q3'),
  ],
  spendCounterKey: one((ids) => keys.spendCounterKey(ids.accountId, 'DAY', ids.day, dimensions)),
  namedSpendCounterKey: one((ids) => keys.namedSpendCounterKey(ids.accountId, 'HOUR', `${ids.day}T10`, 'name', 4)),
  allocationCounterKey: one((ids) => keys.allocationCounterKey(ids.accountId, 'client', `${ids.day}T10`, 'name')),
  sessionCounterKey: one((ids) => keys.sessionCounterKey(ids.accountId, ids.day, 'session', 7)),
  counterSlotsKey: one((ids) => keys.counterSlotsKey(ids.accountId, ids.day)),
  rollupMarkKey: one((ids) => ({
    ...keys.rollupMarkKey(ids.accountId, ids.day),
    ...keys.rollupMarkIndexKey(2, '2026-11-20T10:00:00.000Z', ids.accountId, ids.day),
  })),
  summaryKey: one((ids) => keys.summaryKey(ids.accountId, 'TOTALS', 'DAY', ids.day, 0)),
  modelUseKey: one((ids) =>
    keys.modelUseKey(ids.day, shardOf(ids.accountId, keys.MODEL_USE_SHARDS), ids.accountId, 'openai', 'm'),
  ),
  dayExportKey: one((ids) => ({
    ...keys.dayExportKey(ids.accountId, ids.day),
    ...keys.dayExportIndexKey(2, '2026-11-20T10:00:00.000Z', ids.accountId, ids.day),
  })),
  dayFileKey: one((ids) => ({
    ...keys.dayFileKey(ids.accountId, ids.day),
    ...keys.dayFileIndexKey(2, '2026-12-20T10:00:00.000Z', ids.accountId, ids.day),
  })),
  priceChangeKey: one((ids) => ({ ...keys.priceChangeKey(ids.accountId, 2, ids.day), version: 2, differences: [] })),
  trackingGapKey: one((ids) => keys.trackingGapKey(ids.accountId, `${ids.day}T10:00:00.000Z`, 'g1')),
  countedResponseKey: one((ids) => keys.countedResponseKey(ids.accountId, 'openai', 'resp_1')),
  outboxKey: one((ids) => ({
    ...keys.outboxKey(4, `q${ids.mark}`, 'close'),
    event: JSON.stringify({ accountId: ids.accountId }),
  })),
  refusedEventKey: one((ids) => ({
    ...keys.refusedEventKey(ids.day, `q${ids.mark}#close`),
    event: JSON.stringify({ accountId: ids.accountId }),
  })),
  stripeCustomerKey: (ids) =>
    [`cus_${ids.mark}`, `cus_former${ids.mark}`].map((customerId) => ({
      ...keys.stripeCustomerKey(customerId),
      ...keys.stripeCustomersIndexKey(customerId),
      accountId: ids.accountId,
    })),
};

/** Functions of keys.ts that make keys of items. */
export const keyFunctions = (): string[] =>
  Object.entries(keys)
    .filter(([name, value]) => /(?<!Index)Key$/.test(name) && !name.startsWith('parse') && typeof value === 'function')
    .map(([name]) => name);

/** Puts one item at least under every key that an account may have. */
export const fillAccount = async (table: Table, ids: Ids): Promise<void> => {
  for (const make of Object.values(samples))
    for (const Item of make(ids)) await table.call('PutItem', { TableName: table.name, Item: { ...Item } });
};
