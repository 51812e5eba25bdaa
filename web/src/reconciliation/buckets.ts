import type { Reconciliation } from '../api/responses.ts';
import { locale } from '../format/reading.ts';
import { utcDayText } from '../format/time.ts';
import { providerName } from '../providers/names.ts';

type Bucket = Reconciliation['differences'][number]['bucket'];

/** Buckets in words: a name, and what it is. */
export const bucketTexts: Readonly<Record<Bucket, readonly [name: string, about: string]>> = {
  notThroughGateway: ['Not through the gateway', 'Billed requests that no record has.'],
  priceDiffers: ['Another price', 'Recorded requests, billed at another price, for one model.'],
  discount: ['Discount', 'A lower price for all models of a day, or a credit.'],
  timing: ['Timing', 'Requests around midnight (UTC) that are on the bill of another day.'],
  rounding: ['Rounding', 'What rounding each line of the bill can make.'],
  trackingGap: ['Tracking gap', 'Requests that are known to be untracked.'],
  unknownCost: ['Unknown cost', 'Recorded requests that no price is known for.'],
  notBilledYet: ['Not billed yet', 'Days that the bill has nothing of.'],
  unexplained: ['Unexplained', 'Recorded, but not billed.'],
};

const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

/** Rounded down, so that less than all is never 100 %. */
const shareText = (part: number): string => share.format(Math.floor(part * 1_000) / 1_000);

/** The comparison in a sentence: what came through here, and what most of the rest is. Null without a bill. */
export const summaryText = (
  { provider, throughGatewayShare, differences, findings }: Reconciliation,
  format: (nano: number) => string,
): string | null => {
  if (throughGatewayShare === null) return null;
  const billed = `${shareText(throughGatewayShare)} of your ${providerName(provider)} bill came through here`;
  const missing = differences.find(({ bucket }) => bucket === 'notThroughGateway')?.amountNanoUsd ?? 0;
  if (missing <= 0) return `${billed}.`;
  const [largest] = findings.filter(({ bucket }) => bucket === 'notThroughGateway');
  const name = largest && (largest.model ?? largest.item);
  if (!name) return `${billed}; ${format(missing)} did not.`;
  const part =
    largest.amountNanoUsd >= missing ? 'all' : largest.amountNanoUsd * 2 > missing ? 'most' : 'the largest part';
  return `${billed}; ${format(missing)} did not, ${part} of it ${name} on ${utcDayText(largest.day)}.`;
};
