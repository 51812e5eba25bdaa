/** Kinds of findings, as pages and mails name them. */
export const findingNames = {
  unread_cache_writes: 'Caches that nobody reads',
  uncached_prompts: 'Prompts that are never cached',
  interrupted_responses: 'Responses that nobody got whole',
  dear_remainder: 'A dearer model next to the usual one',
  idle_key: 'An idle key that still spends',
  unused_commitment: 'A commitment that is not used',
  unused_subscription: 'A subscription that is hardly used',
  expiring_credit: 'A credit that will expire',
  expired_credit: 'A credit that expired',
  unneeded_reservations: 'Reserved and never needed',
} as const;
export type FindingKind = keyof typeof findingNames;
export const findingKinds = Object.keys(findingNames) as [FindingKind, ...FindingKind[]];

/**
 * How sure a finding is. `exact`: sums of what was charged. `estimated`: the usage of some requests is estimated. `at_most`: a bound, reached
 * if all that was compared is the same, or nobody needs it. `at_least`: the cost of some requests is unknown. `if_equal`: reached if the
 * other model does the same work with as many tokens. `if_continued`: if use goes on as it is.
 */
export const certaintyNames = {
  exact: 'Exact',
  estimated: 'Some usage is estimated',
  at_most: 'At most',
  at_least: 'At least',
  if_equal: 'If the model does the same work',
  if_continued: 'If use goes on as it is',
} as const;
export type Certainty = keyof typeof certaintyNames;
export const certainties = Object.keys(certaintyNames) as [Certainty, ...Certainty[]];
