/** Colours of the chart, from the style sheet. A canvas cannot use CSS variables. */

const SERIES_COLORS = 7;

/** The colour of a series by its position, for HTML elements. */
export const seriesColor = (index: number): string =>
  index < SERIES_COLORS ? `var(--series-${index + 1})` : 'var(--series-other)';

export const REST_COLOR = 'var(--series-other)';

/** The current value of a CSS variable; any other colour as it is. */
export const cssColor = (color: string): string => {
  const name = /^var\((.+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
};
