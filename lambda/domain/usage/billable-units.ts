import { BILLABLE } from './billable-items.ts';
import { amountOf, countOf } from './raw.ts';
import type { UnitName } from './usage.ts';
import type { Reading } from './usage-event.ts';

type BillableItems = Reading['billableItems'];

/** The units of the billable items that are not zero. */
export const readBillableUnits = (billableItems: BillableItems): Partial<Record<UnitName, number>> => {
  const units: Partial<Record<UnitName, number>> = {};
  const set = (unit: UnitName, quantity: number | null) => {
    if (quantity !== null && quantity > 0) units[unit] = quantity;
  };
  const searches = countOf(billableItems[BILLABLE.webSearchRequests], billableItems[BILLABLE.webSearchCalls]);
  set(countOf(billableItems[BILLABLE.webSearchPreview]) ? 'webSearchPreviews' : 'webSearches', searches);
  set('fileSearches', countOf(billableItems[BILLABLE.fileSearchCalls]));
  set('codeContainers', countOf(billableItems[BILLABLE.codeContainers]));
  set('imageToolInputTokens', countOf(billableItems[BILLABLE.imageGenInputTextTokens]));
  set('imageToolInputImageTokens', countOf(billableItems[BILLABLE.imageGenInputImageTokens]));
  set('imageToolOutputTokens', countOf(billableItems[BILLABLE.imageGenOutputTokens]));
  set('images', countOf(billableItems[BILLABLE.imageCount]));
  set('characters', countOf(billableItems[BILLABLE.speechCharacters]));
  set('audioSeconds', amountOf(billableItems[BILLABLE.audioSeconds]));
  set('videoSeconds', amountOf(billableItems[BILLABLE.videoSeconds]));
  set('groundingQueries', countOf(billableItems[BILLABLE.groundingQueries]));
  set('groundedPrompts', countOf(billableItems[BILLABLE.groundedPrompts]));
  set('mapsPrompts', countOf(billableItems[BILLABLE.mapsPrompts]));
  // Their number is not reported: at least one.
  set('mapsQueries', countOf(billableItems[BILLABLE.mapsPrompts]));
  return units;
};
