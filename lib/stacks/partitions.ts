import * as keys from '../../lambda/data/table/keys.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';

/** As long as an account id (a UUID), so that the pattern of an account's own partition does not match longer names. */
const ANY_ACCOUNT_ID = '?'.repeat(36);
const ANY_DAY = '????-??-??';
const ANY_KEY_HASH = '?'.repeat(secretHash('').length);

/**
 * The partitions of the one table as patterns for IAM conditions (`?` one character, `*` any number), made by the functions
 * that make the keys.
 */
export const partitions = {
  /** Account, keys, rules, alerts, counters of months … */
  accounts: [keys.accountKey(ANY_ACCOUNT_ID).pk],
  /** Request records of any day and shard. */
  requestLogs: [keys.requestPartition(ANY_ACCOUNT_ID, ANY_DAY), `${keys.requestPartition(ANY_ACCOUNT_ID, ANY_DAY)}#??`],
  audit: [keys.auditPartition(ANY_ACCOUNT_ID)],
  spend: [keys.spendPartition(ANY_ACCOUNT_ID)],
  sessions: [keys.sessionPartition(ANY_ACCOUNT_ID, '????-??-??')],
  /** Days and months to roll up, in the index. */
  periodsToRollUp: Array.from({ length: keys.ROLLUP_MARK_SHARDS }, (_, shard) => keys.rollupMarkIndexPartition(shard)),
  /** Days to export, in the index. */
  exportsDue: Array.from({ length: keys.ROLLUP_MARK_SHARDS }, (_, shard) => keys.dayExportIndexPartition(shard)),
  /** Days whose records leave the table, in the index. */
  dayFilesDue: Array.from({ length: keys.ROLLUP_MARK_SHARDS }, (_, shard) => keys.dayFileIndexPartition(shard)),
  /** How far the rules have been judged. */
  evaluator: [keys.evaluationProgressKey().pk],
  /** Rules to evaluate and alerts to send, in the index. */
  activeRules: Array.from({ length: keys.ACTIVE_RULE_SHARDS }, (_, shard) => keys.activeRulesIndexPartition(shard)),
  undeliveredAlerts: Array.from({ length: keys.UNDELIVERED_SHARDS }, (_, shard) =>
    keys.undeliveredIndexPartition(shard),
  ),
  serviceKeys: [keys.serviceKeyKey(ANY_KEY_HASH).pk],
  apiTokens: [keys.apiTokenKey(ANY_KEY_HASH).pk],
  /** Requests that budgets stop. */
  blocks: [keys.blocksKey(ANY_ACCOUNT_ID).pk],
  /** Says of deleted accounts that they are. */
  deletedAccounts: [keys.deletedAccountKey(ANY_ACCOUNT_ID).pk],
  /** Deletions and archives, in the index. */
  accountJobs: [keys.accountJobsIndexPartition],
  signOns: [keys.signOnKey('*').pk],
  /** Accounts with prices of their own. */
  pricedAccounts: [keys.pricedAccountsPartition],
  users: [keys.userKey('*').pk],
  prices: [keys.priceFeedKey().pk],
  priceDrift: [keys.priceDriftPartition(ANY_DAY)],
  repricing: [keys.repricingKey().pk],
  modelUse: [keys.modelUsePartition(ANY_DAY, 0).replace(/0$/, '?')],
  /** Requests counted for rate limits. */
  requestCounts: [keys.requestCountKey('*', '').pk],
  stripeCustomers: [keys.stripeCustomerKey('*').pk],
  /** All customers, in the index. */
  allStripeCustomers: [keys.stripeCustomersIndexPartition],
  stripeEvents: [keys.stripeEventKey('*').pk],
  outbox: Array.from({ length: keys.OUTBOX_SHARDS }, (_, shard) => keys.outboxPartition(shard)),
  /** Set aside by the sweep for people to look at. */
  refusedEvents: [keys.refusedEventKey(ANY_DAY, '').pk],
} as const;
