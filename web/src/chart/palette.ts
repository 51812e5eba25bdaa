/** Colours of the chart, from the sheet: a canvas knows no variables. */

const SERIES_COLORS = 7;

/** The colour of a series by its place, for elements of the page. */
export const seriesColor = (index: number): string =>
  index < SERIES_COLORS ? `var(--series-${index + 1})` : 'var(--series-other)';

export const REST_COLOR = 'var(--series-other)';

/** A variable's value now. */
export const cssColor = (color: string): string => {
  const name = /^var\((.+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
};
