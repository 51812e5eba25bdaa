import { oneLine } from '../alerts/message.ts';
import { queryOf } from '../calendar/range.ts';
import { monthOf } from '../calendar/utc.ts';
import { findingNames } from '../savings/finding-kinds.ts';
import type { Grouping } from '../spend/grouping.ts';
import { relativeChange } from '../spend/relative-change.ts';
import { percentText } from '../spend/spend-report.ts';
import type { Breakdown, ReportContent } from './report-content.ts';

type Group = Breakdown['groups'][number];

/** Four digits below a dollar, else cents. Programs get exact numbers: see reportMessage. */
export const usdText = (nanoUsd: number | null): string => {
  if (nanoUsd === null) return 'unknown';
  const usd = Math.abs(nanoUsd) / 1e9;
  if (usd > 0 && usd < 0.0001) return `${nanoUsd < 0 ? '-' : ''}<$0.0001`;
  const digits = usd > 0 && usd < 1 ? 4 : 2;
  const shown = usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: digits });
  return `${nanoUsd < 0 ? '-' : ''}$${shown}`;
};

/** `+$3.20`, `-$1.00`, `±$0.00` */
export const changeText = (nanoUsd: number | null): string =>
  nanoUsd === null ? 'unknown' : `${nanoUsd > 0 ? '+' : nanoUsd === 0 ? '±' : ''}${usdText(nanoUsd)}`;

export const countText = (count: number): string => count.toLocaleString('en-US');

const requestsText = (count: number): string => `${countText(count)} ${count === 1 ? 'request' : 'requests'}`;

const groupingTitles: Readonly<Record<Exclude<Grouping, `dim:${string}`>, string>> = {
  provider: 'provider',
  model: 'model',
  tag: 'tag',
  key: 'key',
  providerKey: 'provider key',
  project: 'project',
  member: 'member',
  client: 'client',
};

export const groupingText = (by: Grouping): string =>
  by in groupingTitles ? groupingTitles[by as keyof typeof groupingTitles] : by.slice('dim:'.length);

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
export const summaryText = ({ every, totals }: ReportContent): string => {
  const { costNanoUsd, costBeforeNanoUsd, costChangeNanoUsd, requests, unpricedRequests } = totals;
  const spent =
    costNanoUsd === null
      ? `What was spent is unknown (${requestsText(requests)}).`
      : `${usdText(costNanoUsd)} was spent on ${requestsText(requests)}`;
  const unknown = unpricedRequests > 0 ? ` The cost of ${requestsText(unpricedRequests)} is unknown.` : '';
  if (costNanoUsd === null) return spent;
  if (costChangeNanoUsd === null) return `${spent}. What was spent ${beforeNames[every]} is unknown.${unknown}`;
  const relative = relativeChange(costNanoUsd, costBeforeNanoUsd);
  const share = relative === null ? '' : ` (${percentText(Math.round(Math.abs(relative) * 100))})`;
  const change =
    costChangeNanoUsd === 0
      ? `as much as ${beforeNames[every]}`
      : `${usdText(Math.abs(costChangeNanoUsd))}${share} ${costChangeNanoUsd > 0 ? 'more' : 'less'} than ${beforeNames[every]}`;
  return `${spent}, ${change}.${unknown}`;
};

/** How much of a change is how much was used, of which models, and at which price. Null where nothing changed, or it is not known. */
export const effectsText = ({ totals, effects }: ReportContent): string | null => {
  if (effects === null || totals.costChangeNanoUsd === 0) return null;
  const { volumeNanoUsd, mixNanoUsd, priceNanoUsd } = effects;
  return `Volume ${changeText(volumeNanoUsd)}, mix of models ${changeText(mixNanoUsd)}, price ${changeText(priceNanoUsd)}.`;
};

const MAX_DRIVERS = 3;

/** The groups that made the difference: `search +$3.20, chat -$1.00`. Empty where nothing changed. */
export const driversText = ({ by, groups }: Breakdown): string =>
  groups
    .filter(({ costChangeNanoUsd }) => costChangeNanoUsd !== 0)
    .toSorted(
      (left, right) =>
        Math.abs(right.costChangeNanoUsd ?? Number.MAX_VALUE) - Math.abs(left.costChangeNanoUsd ?? Number.MAX_VALUE),
    )
    .slice(0, MAX_DRIVERS)
    .map(
      (group) =>
        `${groupName(by, group)} ${group.costChangeNanoUsd === null ? '(not known)' : changeText(group.costChangeNanoUsd)}`,
    )
    .join(', ');

/** Unknown and less certain figures. */
export const coverageLines = ({ totals, coverage }: ReportContent): string[] => {
  const { unpricedRequests } = totals;
  const { untrackedRequests, bypassedRequests, unfinishedRequests, partialRequests, estimatedNanoUsd } = coverage;
  return [
    ...(unpricedRequests > 0 ? [`Unknown cost: ${requestsText(unpricedRequests)}. No sum includes them.`] : []),
    ...(untrackedRequests > 0
      ? [`Not tracked: up to ${requestsText(untrackedRequests)}. No number here includes them.`]
      : []),
    ...(estimatedNanoUsd > 0 ? [`Estimated: ${usdText(estimatedNanoUsd)} of the sum.`] : []),
    ...(unfinishedRequests > 0 ? [`End not known: ${requestsText(unfinishedRequests)}.`] : []),
    ...(partialRequests > 0 ? [`Usage may be too low: ${requestsText(partialRequests)} could not be read whole.`] : []),
    ...(bypassedRequests > 0 ? [`Bypassed, and counted all the same: ${requestsText(bypassedRequests)}.`] : []),
  ];
};

export const budgetText = ({
  percentUsed,
  amountNanoUsd,
  usedNanoUsd,
  projectedNanoUsd,
  period,
  unpricedRequests,
}: ReportContent['budgets'][number]): string =>
  [
    `${percentText(percentUsed)} used: ${usdText(usedNanoUsd)} of ${usdText(amountNanoUsd)} (${period})`,
    ...(projectedNanoUsd === null ? [] : [`projected ${usdText(projectedNanoUsd)}`]),
    ...(unpricedRequests > 0 ? [`${requestsText(unpricedRequests)} of unknown cost`] : []),
  ].join(', ');

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
  ...(isComplete ? [] : ['Only the newest requests of the 30 days were read.']),
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
