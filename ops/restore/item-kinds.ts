import {
  accountApiTokenKey,
  accountKey,
  accountServiceKeyKey,
  accountUserKey,
  alertKey,
  apiTokenKey,
  archiveKey,
  auditPartition,
  billConnectionKey,
  billKey,
  blocksKey,
  countedResponseKey,
  counterSlotsKey,
  deletedAccountKey,
  deletionKey,
  destinationKey,
  evaluationProgressKey,
  firedKey,
  invitationKey,
  invitationMailsKey,
  judgedAccountKey,
  type Key,
  modelUsePartition,
  monthKey,
  outboxPartition,
  overridesPrefix,
  ownPricesKey,
  priceDriftPartition,
  pricedAccountsPartition,
  priceFeedKey,
  projectKey,
  raisesKey,
  refusedEventKey,
  reportKey,
  reportRunKey,
  repricingKey,
  requestCountKey,
  requestPartition,
  ruleKey,
  savedViewKey,
  savingKey,
  serviceKeyKey,
  sessionPartition,
  signOnKey,
  spendPartition,
  stripeCustomerKey,
  stripeEventKey,
  uncountedKey,
  userKey,
} from '../../lambda/data/table/keys.ts';

/** Statements of people and payment processors, as opposed to what the recorder makes of events. */
export const kindsOfItems = [
  'account',
  'key',
  'user',
  'project',
  'view',
  'saving',
  'token',
  'invitation',
  'sign-on',
  'audit',
  'rule',
  'destination',
  'alert',
  'report',
  'price',
  'bill',
  'billing',
  'event',
] as const;
export type ItemKind = (typeof kindsOfItems)[number];

const ofAccount: readonly (readonly [string, ItemKind | 'derived'])[] = [
  [accountKey('').sk, 'account'],
  [deletionKey('').sk, 'account'],
  // The bucket has them for seven days; another one is soon made.
  [archiveKey('', '').sk, 'derived'],
  [accountServiceKeyKey('', '').sk, 'key'],
  [accountUserKey('', '').sk, 'user'],
  [projectKey('', '').sk, 'project'],
  [savedViewKey('', '').sk, 'view'],
  [savingKey('', '').sk, 'saving'],
  [accountApiTokenKey('', '').sk, 'token'],
  [invitationKey('', '').sk, 'invitation'],
  [invitationMailsKey('', '').sk, 'invitation'],
  [ruleKey('', '').sk, 'rule'],
  [destinationKey('', '').sk, 'destination'],
  [raisesKey('').sk, 'rule'],
  [alertKey('', '').sk, 'alert'],
  [firedKey('', '', '').sk, 'alert'],
  [reportKey('', '').sk, 'report'],
  [reportRunKey('', '', '').sk, 'report'],
  [ownPricesKey('').sk, 'price'],
  [billKey('', '', '').sk, 'bill'],
  [billConnectionKey('', '').sk, 'bill'],
  [monthKey('', '').sk, 'derived'],
  [counterSlotsKey('', '').sk, 'derived'],
  [judgedAccountKey('').sk, 'derived'],
  [uncountedKey('', '').sk, 'derived'],
  [countedResponseKey('', '', '').sk, 'derived'],
];

const byPartition: readonly (readonly [string, ItemKind | 'derived'])[] = [
  [serviceKeyKey('').pk, 'key'],
  [userKey('').pk, 'user'],
  [deletedAccountKey('').pk, 'account'],
  [apiTokenKey('').pk, 'token'],
  [signOnKey('').pk, 'sign-on'],
  // Budgets write them again from what was spent.
  [blocksKey('').pk, 'derived'],
  // They end within a day.
  [requestCountKey('', '').pk, 'derived'],
  [stripeCustomerKey('').pk, 'billing'],
  [stripeEventKey('').pk, 'billing'],
  [outboxPartition(0).replace(/0$/, ''), 'event'],
  [refusedEventKey('', '').pk, 'event'],
  [evaluationProgressKey().pk, 'derived'],
  [pricedAccountsPartition, 'price'],
  // The price feed reads the lists again.
  [priceFeedKey().pk, 'derived'],
  [priceDriftPartition(''), 'derived'],
  [repricingKey().pk, 'derived'],
  [modelUsePartition('', 0).replace(/#0$/, ''), 'derived'],
];

const account = accountKey('').pk;
const OVERRIDES = overridesPrefix('').replace(/#$/, '');
const [, requestMark = ''] = requestPartition('\0', '').split('\0');
const [, spendMark = ''] = spendPartition('\0').split('\0');
const [, sessionMark = ''] = sessionPartition('\0', '').split('\0');
const [, auditMark = ''] = auditPartition('\0').split('\0');

/** @returns undefined for an item whose key this checkout does not know */
export const kindOf = ({ pk, sk }: Key): ItemKind | 'request' | 'derived' | undefined => {
  if (pk.startsWith(blocksKey('').pk) && sk.startsWith(OVERRIDES)) return 'rule';
  if (!pk.startsWith(account)) return byPartition.find(([prefix]) => pk.startsWith(prefix))?.[1];
  if (pk.includes(requestMark)) return 'request';
  if (pk.endsWith(spendMark) || pk.includes(sessionMark)) return 'derived';
  if (pk.endsWith(auditMark)) return 'audit';
  return ofAccount.find(([prefix]) => sk.startsWith(prefix.replace(/#+$/, '#')))?.[1];
};
