import { EXTRA } from './billable-items.ts';
import { amountOf, countOf } from './raw.ts';
import type { UnitName } from './usage.ts';
import type { Reading } from './usage-event.ts';

type Extras = Reading['extras'];

/** Billable units among the extras, the non-zero ones. */
export const readExtraUnits = (extras: Extras): Partial<Record<UnitName, number>> => {
  const units: Partial<Record<UnitName, number>> = {};
  const set = (unit: UnitName, quantity: number | null) => {
    if (quantity !== null && quantity > 0) units[unit] = quantity;
  };
  const searches = countOf(extras[EXTRA.webSearchRequests], extras[EXTRA.webSearchCalls]);
  set(countOf(extras[EXTRA.webSearchPreview]) ? 'webSearchPreviews' : 'webSearches', searches);
  set('fileSearches', countOf(extras[EXTRA.fileSearchCalls]));
  set('codeContainers', countOf(extras[EXTRA.codeContainers]));
  set('imageToolInputTokens', countOf(extras[EXTRA.imageGenInputTextTokens]));
  set('imageToolInputImageTokens', countOf(extras[EXTRA.imageGenInputImageTokens]));
  set('imageToolOutputTokens', countOf(extras[EXTRA.imageGenOutputTokens]));
  set('images', countOf(extras[EXTRA.imageCount]));
  set('characters', countOf(extras[EXTRA.speechCharacters]));
  set('audioSeconds', amountOf(extras[EXTRA.audioSeconds]));
  set('videoSeconds', amountOf(extras[EXTRA.videoSeconds]));
  set('groundingQueries', countOf(extras[EXTRA.groundingQueries]));
  set('groundedPrompts', countOf(extras[EXTRA.groundedPrompts]));
  set('mapsPrompts', countOf(extras[EXTRA.mapsPrompts]));
  // How many there were is not told: one at least.
  set('mapsQueries', countOf(extras[EXTRA.mapsPrompts]));
  return units;
};
