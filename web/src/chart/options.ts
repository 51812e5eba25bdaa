import type { ChartOptions, Plugin } from 'chart.js';
import { useSyncExternalStore } from 'react';
import { formatAxisMoney } from '../format/money.ts';
import { formatBucket } from '../format/time.ts';

/** One series of the stacked bars, with its colour on the whole page. */
export interface Series {
  readonly name: string;
  readonly color: string;
}

const SCHEME = 'data-mantine-color-scheme';

const subscribe = (onChange: () => void) => {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: [SCHEME] });
  return () => observer.disconnect();
};

/** The colour scheme of the page; on paper it is light: see first-paint.js. */
export const useScheme = (): string | null =>
  useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(SCHEME));

/** The current value of a colour of the style sheet or of `colorsOf`: a canvas knows neither variables nor schemes. */
export const cssColor = (color: string): string => {
  const page = document.documentElement;
  const [, light, dark] = /^light-dark\((.+), (.+)\)$/.exec(color) ?? [];
  if (light !== undefined && dark !== undefined) return page.getAttribute(SCHEME) === 'dark' ? dark : light;
  const name = /^var\((.+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(page).getPropertyValue(name).trim();
};

const FONT = { family: "'Inter', 'Inter fallback', system-ui, sans-serif", size: 11.5 };

/** Options of all charts: stacked bars over time buckets, no built-in legend or tooltip. */
export const barOptions = (settings: {
  /** The highest value, at which the axis ends; without any value there is no axis of values. By default the library chooses. */
  readonly highest?: number;
  readonly formatValue?: (value: number) => string;
  readonly stacked?: boolean;
}): ChartOptions<'bar'> => ({
  responsive: true,
  maintainAspectRatio: false,
  // Paper shows what is drawn at once.
  animation: false,
  interaction: { mode: 'index', intersect: false, axis: 'x' },
  layout: { padding: { top: 14 } },
  plugins: { legend: { display: false }, tooltip: { enabled: false } },
  scales: {
    x: {
      stacked: settings.stacked ?? true,
      grid: { display: false },
      border: { color: cssColor('var(--line)') },
      ticks: {
        color: cssColor('var(--dim)'),
        font: FONT,
        maxRotation: 0,
        autoSkipPadding: 18,
        callback(index) {
          return formatBucket(this.getLabelForValue(Number(index)));
        },
      },
    },
    y: {
      stacked: settings.stacked ?? true,
      beginAtZero: true,
      ...(settings.highest ? { max: settings.highest } : {}),
      grid: { color: cssColor('var(--line)') },
      border: { display: false },
      ticks: {
        color: cssColor('var(--dim)'),
        font: FONT,
        display: settings.highest !== 0,
        maxTicksLimit: 6,
        includeBounds: settings.highest === undefined,
        padding: 8,
        callback: (value) => (settings.formatValue ?? formatAxisMoney)(Number(value)),
      },
    },
  },
});

/** Shades the hovered bucket, behind the bars. */
export const shadeActive: Plugin<'bar'> = {
  id: 'shadeActive',
  beforeDatasetsDraw(chart) {
    const index = chart.getActiveElements()[0]?.index;
    const { x } = chart.scales;
    if (index === undefined || !x) return;
    const width = x.width / Math.max(1, chart.data.labels?.length ?? 1);
    const { top, bottom } = chart.chartArea;
    chart.ctx.save();
    chart.ctx.fillStyle = cssColor('var(--sunken)');
    chart.ctx.fillRect(x.getPixelForValue(index) - width / 2, top, width, bottom - top);
    chart.ctx.restore();
  },
};
