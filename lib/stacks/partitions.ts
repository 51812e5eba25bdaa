import {
  ACTIVE_RULE_SHARDS,
  accountJobsIndexPartition,
  accountKey,
  activeRulesIndexPartition,
  apiTokenKey,
  auditPartition,
  blocksKey,
  dayExportIndexPartition,
  dayFileIndexPartition,
  deletedAccountKey,
  evaluationProgressKey,
  modelUsePartition,
  OUTBOX_SHARDS,
  outboxPartition,
  priceDriftPartition,
  pricedAccountsPartition,
  priceFeedKey,
  ROLLUP_MARK_SHARDS,
  refusedEventKey,
  repricingKey,
  requestCountKey,
  requestPartition,
  rollupMarkIndexPartition,
  serviceKeyKey,
  sessionPartition,
  signOnKey,
  spendPartition,
  stripeCustomerKey,
  stripeCustomersIndexPartition,
  stripeEventKey,
  UNDELIVERED_SHARDS,
  undeliveredIndexPartition,
  userKey,
} from '../../lambda/data/table/keys.ts';
import { serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';

/** As long as an account id (a UUID), so that the pattern of an account's own partition does not match longer names. */
const ANY_ACCOUNT_ID = '?'.repeat(36);
const ANY_DAY = '????-??-??';
const ANY_KEY_HASH = '?'.repeat(serviceKeyHash('').length);

/**
 * The partitions of the one table as patterns for IAM conditions (`?` one character, `*` any number), made by the functions
 * that make the keys.
 */
export const partitions = {
  /** Account, keys, rules, alerts, counters of months … */
  accounts: [accountKey(ANY_ACCOUNT_ID).pk],
  /** Request records of any day and shard. */
  requestLogs: [requestPartition(ANY_ACCOUNT_ID, ANY_DAY), `${requestPartition(ANY_ACCOUNT_ID, ANY_DAY)}#??`],
  audit: [auditPartition(ANY_ACCOUNT_ID)],
  spend: [spendPartition(ANY_ACCOUNT_ID)],
  sessions: [sessionPartition(ANY_ACCOUNT_ID, '????-??-??')],
  /** Days and months to roll up, in the index. */
  periodsToRollUp: Array.from({ length: ROLLUP_MARK_SHARDS }, (_, shard) => rollupMarkIndexPartition(shard)),
  /** Days to export, in the index. */
  exportsDue: Array.from({ length: ROLLUP_MARK_SHARDS }, (_, shard) => dayExportIndexPartition(shard)),
  /** Days whose records leave the table, in the index. */
  dayFilesDue: Array.from({ length: ROLLUP_MARK_SHARDS }, (_, shard) => dayFileIndexPartition(shard)),
  /** How far the rules have been judged. */
  evaluator: [evaluationProgressKey().pk],
  /** Rules to evaluate and alerts to send, in the index. */
  activeRules: Array.from({ length: ACTIVE_RULE_SHARDS }, (_, shard) => activeRulesIndexPartition(shard)),
  undeliveredAlerts: Array.from({ length: UNDELIVERED_SHARDS }, (_, shard) => undeliveredIndexPartition(shard)),
  serviceKeys: [serviceKeyKey(ANY_KEY_HASH).pk],
  apiTokens: [apiTokenKey(ANY_KEY_HASH).pk],
  /** Requests that budgets stop. */
  blocks: [blocksKey(ANY_ACCOUNT_ID).pk],
  /** Says of deleted accounts that they are. */
  deletedAccounts: [deletedAccountKey(ANY_ACCOUNT_ID).pk],
  /** Deletions and archives, in the index. */
  accountJobs: [accountJobsIndexPartition],
  signOns: [signOnKey('*').pk],
  /** Accounts with prices of their own. */
  pricedAccounts: [pricedAccountsPartition],
  users: [userKey('*').pk],
  prices: [priceFeedKey().pk],
  priceDrift: [priceDriftPartition(ANY_DAY)],
  repricing: [repricingKey().pk],
  modelUse: [modelUsePartition(ANY_DAY, 0).replace(/0$/, '?')],
  /** Requests counted for rate limits. */
  requestCounts: [requestCountKey('*', '').pk],
  stripeCustomers: [stripeCustomerKey('*').pk],
  /** All customers, in the index. */
  allStripeCustomers: [stripeCustomersIndexPartition],
  stripeEvents: [stripeEventKey('*').pk],
  outbox: Array.from({ length: OUTBOX_SHARDS }, (_, shard) => outboxPartition(shard)),
  /** Set aside by the sweep for people to look at. */
  refusedEvents: [refusedEventKey(ANY_DAY, '').pk],
} as const;
