import * as keys from '../../lambda/data/table/keys.ts';

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
  [keys.accountKey('').sk, 'account'],
  [keys.deletionKey('').sk, 'account'],
  // The bucket has them for seven days; another one is soon made.
  [keys.archiveKey('', '').sk, 'derived'],
  [keys.accountServiceKeyKey('', '').sk, 'key'],
  [keys.accountUserKey('', '').sk, 'user'],
  [keys.projectKey('', '').sk, 'project'],
  [keys.savedViewKey('', '').sk, 'view'],
  [keys.savingKey('', '').sk, 'saving'],
  [keys.accountApiTokenKey('', '').sk, 'token'],
  [keys.invitationKey('', '').sk, 'invitation'],
  [keys.invitationMailsKey('', '').sk, 'invitation'],
  [keys.ruleKey('', '').sk, 'rule'],
  [keys.destinationKey('', '').sk, 'destination'],
  [keys.raisesKey('').sk, 'rule'],
  [keys.alertKey('', '').sk, 'alert'],
  [keys.firedKey('', '', '').sk, 'alert'],
  [keys.reportKey('', '').sk, 'report'],
  [keys.reportRunKey('', '', '').sk, 'report'],
  [keys.ownPricesKey('').sk, 'price'],
  [keys.billKey('', '', '').sk, 'bill'],
  [keys.billConnectionKey('', '').sk, 'bill'],
  [keys.monthKey('', '').sk, 'derived'],
  [keys.counterSlotsKey('', '').sk, 'derived'],
  [keys.judgedAccountKey('').sk, 'derived'],
  [keys.uncountedKey('', '').sk, 'derived'],
  [keys.countedResponseKey('', '', '').sk, 'derived'],
];

/** Keys of empty names end in several marks, of which others have one. */
const beginnings = ofAccount.map(([sk, kind]) => [sk.replace(/#+$/, '#'), kind] as const);

const byPartition: readonly (readonly [string, ItemKind | 'derived'])[] = [
  [keys.serviceKeyKey('').pk, 'key'],
  [keys.userKey('').pk, 'user'],
  [keys.deletedAccountKey('').pk, 'account'],
  [keys.apiTokenKey('').pk, 'token'],
  [keys.signOnKey('').pk, 'sign-on'],
  // Budgets write them again from what was spent.
  [keys.blocksKey('').pk, 'derived'],
  // They end within a day.
  [keys.requestCountKey('', '').pk, 'derived'],
  [keys.stripeCustomerKey('').pk, 'billing'],
  [keys.stripeEventKey('').pk, 'billing'],
  [keys.outboxPartition(0).replace(/0$/, ''), 'event'],
  [keys.refusedEventKey('', '').pk, 'event'],
  [keys.evaluationProgressKey().pk, 'derived'],
  [keys.pricedAccountsPartition, 'price'],
  // The price feed reads the lists again.
  [keys.priceFeedKey().pk, 'derived'],
  [keys.priceDriftPartition(''), 'derived'],
  [keys.repricingKey().pk, 'derived'],
  [keys.modelUsePartition('', 0).replace(/#0$/, ''), 'derived'],
];

const account = keys.accountKey('').pk;
const OVERRIDES = keys.overridesPrefix('').replace(/#$/, '');
const [, requestMark = ''] = keys.requestPartition('\0', '').split('\0');
const [, spendMark = ''] = keys.spendPartition('\0').split('\0');
const [, sessionMark = ''] = keys.sessionPartition('\0', '').split('\0');
const [, auditMark = ''] = keys.auditPartition('\0').split('\0');

/** @returns undefined for an item whose key this checkout does not know */
export const kindOf = ({ pk, sk }: keys.Key): ItemKind | 'request' | 'derived' | undefined => {
  if (pk.startsWith(keys.blocksKey('').pk) && sk.startsWith(OVERRIDES)) return 'rule';
  if (!pk.startsWith(account)) return byPartition.find(([prefix]) => pk.startsWith(prefix))?.[1];
  if (pk.includes(requestMark)) return 'request';
  if (pk.endsWith(spendMark) || pk.includes(sessionMark)) return 'derived';
  if (pk.endsWith(auditMark)) return 'audit';
  return beginnings.find(([prefix]) => sk.startsWith(prefix))?.[1];
};
