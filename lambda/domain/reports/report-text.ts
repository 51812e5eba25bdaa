import { oneLine } from '../alerts/message.ts';
import { queryOf } from '../calendar/range.ts';
import { monthOf } from '../calendar/utc.ts';
import { findingNames } from '../savings/finding-kinds.ts';
import { amountText } from '../spend/display-currency.ts';
import type { Grouping } from '../spend/grouping.ts';
import { knownCost, relativeChange } from '../spend/known-cost.ts';
import { countText, percentText, requestsText, shareText } from '../spend/spend-report.ts';
import type { Breakdown, ReportChange, ReportContent } from './report-content.ts';

type Group = Breakdown['groups'][number];

/** How a report shows its amounts, which are numbers in 1e-9 of one currency. */
export interface ReportMoney {
  /** Two sums of spend: each day's cost at the rate of that day. */
  readonly of: (change: ReportChange) => Record<'before' | 'now' | 'change', number | null>;
  /** An amount that belongs to no day: at the rate of the period's last one. */
  readonly from: (nanoUsd: number) => number;
  readonly text: (nano: number | null) => string;
  /** `+$3.20`, `-$1.00`, `±$0.00` */
  readonly changeText: (nano: number | null) => string;
}

const nanoOf = (decimal: string | null | undefined): number | null =>
  decimal == null ? null : Math.round(Number(decimal) * 1e9);

/** In the account's currency, or in US dollars where it has none, or no rate for a day. */
export const reportMoney = ({ currency, totals }: ReportContent): ReportMoney => {
  const isKnown = (cost: number | null, shown: string | null | undefined) => cost === null || shown != null;
  const isShown =
    currency !== undefined &&
    isKnown(totals.costNanoUsd, totals.displayCost) &&
    isKnown(totals.costBeforeNanoUsd, totals.displayCostBefore);
  const code = isShown ? currency.code : 'USD';
  const text = (nano: number | null) => amountText(nano, code);
  return {
    of: ({ costBeforeNanoUsd, costNanoUsd, displayCostBefore, displayCost }) => {
      const before = isShown ? nanoOf(displayCostBefore) : costBeforeNanoUsd;
      const now = isShown ? nanoOf(displayCost) : costNanoUsd;
      return { before, now, change: before === null || now === null ? null : now - before };
    },
    from: (nanoUsd) => (isShown ? Math.round(nanoUsd * Number(currency.perUsd)) : nanoUsd),
    text,
    changeText: (nano) => (nano === null ? 'unknown' : `${nano > 0 ? '+' : nano === 0 ? '±' : ''}${text(nano)}`),
  };
};

/** ` (3 requests of unknown cost)`: those that no amount of a row includes. */
export const unknownText = ({ unpricedRequests }: { readonly unpricedRequests: number }): string =>
  unpricedRequests > 0 ? ` (${requestsText(unpricedRequests)} of unknown cost)` : '';

/** A dimension in words; a declared one by its own name. */
export const groupingText = (by: Grouping): string => (by === 'providerKey' ? 'provider key' : by.replace(/^dim:/, ''));

export const groupName = (by: Grouping, { value, label }: Pick<Group, 'value' | 'label'>): string =>
  value === null ? `no ${groupingText(by)}` : oneLine(label ?? value);

/** `2026-11-20`, `2026-11-16 to 2026-11-22`, `2026-10` */
export const periodText = ({ every, period: { firstDay, lastDay } }: ReportContent): string =>
  every === 'daily' ? firstDay : every === 'monthly' ? monthOf(firstDay) : `${firstDay} to ${lastDay}`;

/** Where the days of a report begin, if not at midnight: see calendarSchema. */
export const zoneText = ({ timeZone, period: { from, to } }: ReportContent): string =>
  timeZone === 'UTC' ? 'UTC' : `${timeZone}: ${shortInstant(from)} to ${shortInstant(to)} UTC`;

const shortInstant = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)}`;

const beforeNames = { daily: 'the day before', weekly: 'the week before', monthly: 'the month before' } as const;

/** Spend, compared with the period before. */
export const summaryText = ({ every, totals }: ReportContent, money: ReportMoney): string => {
  const { requests, unpricedRequests } = totals;
  const { before, now, change } = money.of(totals);
  if (now === null) return `What was spent is unknown (${requestsText(requests)}).`;
  const spent = `${money.text(now)} was spent on ${requestsText(requests)}`;
  const unknown = unpricedRequests > 0 ? ` The cost of ${requestsText(unpricedRequests)} is unknown.` : '';
  if (change === null) return `${spent}. What was spent ${beforeNames[every]} is unknown.${unknown}`;
  const relative = relativeChange(now, before);
  const share = relative === null ? '' : ` (${shareText(Math.abs(relative))})`;
  const compared =
    change === 0
      ? `as much as ${beforeNames[every]}`
      : `${money.text(Math.abs(change))}${share} ${change > 0 ? 'more' : 'less'} than ${beforeNames[every]}`;
  return `${spent}, ${compared}.${unknown}`;
};

const CENT_NANO = 10_000_000;

/**
 * How much of a change is how much was used, of which models, and at which price; what the exchange rate changed, from a cent on. Null where
 * nothing changed, or it is not known.
 */
export const effectsText = ({ totals, effects }: ReportContent, money: ReportMoney): string | null => {
  const { change } = money.of(totals);
  if (effects === null || change === null || change === 0) return null;
  const parts = [effects.volumeNanoUsd, effects.mixNanoUsd, effects.priceNanoUsd].map(money.from);
  const byRate = change - parts.reduce((sum, part) => sum + part, 0);
  const [volume = 0, mix = 0, price = 0] = parts;
  return `Volume ${money.changeText(volume)}, mix of models ${money.changeText(mix)}, price ${money.changeText(price)}${
    Math.abs(byRate) < CENT_NANO ? '' : `, exchange rate ${money.changeText(byRate)}`
  }.`;
};

const MAX_DRIVERS = 3;

/** The groups that made the difference: `search +$3.20, chat -$1.00`. Empty where nothing changed. */
export const changesText = ({ by, groups }: Breakdown, money: ReportMoney): string =>
  groups
    .map((group) => ({ name: groupName(by, group), change: money.of(group).change }))
    .filter(({ change }) => change !== 0)
    .toSorted((left, right) => Math.abs(right.change ?? Number.MAX_VALUE) - Math.abs(left.change ?? Number.MAX_VALUE))
    .slice(0, MAX_DRIVERS)
    .map(({ name, change }) => `${name} ${change === null ? '(not known)' : money.changeText(change)}`)
    .join(', ');

/** Unknown and less certain figures. */
export const coverageLines = ({ totals, coverage }: ReportContent, money: ReportMoney): string[] => {
  const { unpricedRequests } = totals;
  const { untrackedRequests, bypassedRequests, unfinishedRequests, partialRequests, estimatedNanoUsd } = coverage;
  return [
    ...(unpricedRequests > 0 ? [`Unknown cost: ${requestsText(unpricedRequests)}. No sum includes them.`] : []),
    ...(untrackedRequests > 0
      ? [`Not tracked: up to ${requestsText(untrackedRequests)}. No number here includes them.`]
      : []),
    ...(estimatedNanoUsd > 0 ? [`Estimated: ${money.text(money.from(estimatedNanoUsd))} of the sum.`] : []),
    ...(unfinishedRequests > 0 ? [`End not known: ${requestsText(unfinishedRequests)}.`] : []),
    ...(partialRequests > 0 ? [`Usage may be too low: ${requestsText(partialRequests)} could not be read whole.`] : []),
    ...(bypassedRequests > 0 ? [`Bypassed, and counted all the same: ${requestsText(bypassedRequests)}.`] : []),
  ];
};

type Budget = ReportContent['budgets'][number];

/** `$3.20 of $10.00`, `unknown of $10.00` */
export const usedText = (
  { usedNanoUsd, amountNanoUsd, unpricedRequests }: Budget,
  { text, from }: ReportMoney,
): string => {
  const used = knownCost(usedNanoUsd, unpricedRequests);
  return `${text(used && from(used))} of ${text(from(amountNanoUsd))}`;
};

export const budgetText = (budget: Budget, money: ReportMoney): string => {
  const { percentUsed, projectedNanoUsd, period, unpricedRequests } = budget;
  return [
    `${percentText(percentUsed)} used: ${usedText(budget, money)} (${period})`,
    ...(projectedNanoUsd === null ? [] : [`projected ${money.text(money.from(projectedNanoUsd))}`]),
    ...(unpricedRequests > 0 ? [`${requestsText(unpricedRequests)} of unknown cost`] : []),
  ].join(', ');
};

type Savings = NonNullable<ReportContent['savings']>;

/** Says what is wasted, and where: `Caches that nobody reads (openai, gpt-4o, tag search)`. */
export const findingText = ({ kind, scope: { provider, model, tag } }: Savings['findings'][number]): string => {
  const where = [provider, model, tag && `tag ${tag}`].filter(Boolean).join(', ');
  return oneLine(`${findingNames[kind]}${where && ` (${where})`}`);
};

/** Says what of the findings is not in a report. */
export const savingsNotes = ({ findings, furtherFindings, isComplete }: Savings): string[] => [
  ...(findings.length === 0 ? ['Nothing that costs $1 a month or more was found.'] : []),
  ...(furtherFindings > 0 ? [`${countText(furtherFindings)} more are on the page Savings.`] : []),
  ...(isComplete ? [] : ['Not all requests of the 30 days could be read.']),
];

/** The pages that a report leads to. The overview shows the same two periods. */
export const reportLinks = (
  dashboardUrl: string,
  { reportId, content }: { reportId: string; content: ReportContent },
) => {
  const before = queryOf(content.before);
  const search = new URLSearchParams({
    range: 'custom',
    ...queryOf(content.period),
    compareFrom: before.from,
    compareTo: before.to,
  });
  return {
    spend: `${dashboardUrl}/?${search}`,
    savings: `${dashboardUrl}/savings`,
    report: `${dashboardUrl}/reports/${reportId}`,
  };
};
