import { type MouseEvent, type ReactNode, useState } from 'react';
import { formatBucket } from '../format/time.ts';
import classes from './chart.module.css';

interface Bar {
  /** The bucket: `2026-11-20T16`, `2026-11-20` or `2026-11`. */
  readonly time: string;
  /** Heights of the segments, from the bottom. */
  readonly values: readonly (number | null)[];
  /** The bar is too low by an unknown amount. */
  readonly isMarked?: boolean;
  /** Some of its time is in no bar. */
  readonly isShaded?: boolean;
}

interface Line {
  readonly color: string;
  /** One for each bar; null where it is not known: there the line is interrupted. */
  readonly values: readonly (number | null)[];
  /** A level of each bar, dashed, instead of a line through dots. */
  readonly dash?: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly colorOf: (bar: Bar, segment: number) => string;
  readonly lines?: readonly Line[];
  readonly formatAxis: (value: number) => string;
  /** Describes the chart to screen readers; a table has the figures. */
  readonly label: string;
  /** The box next to the bar under the pointer. */
  readonly tip: (index: number) => ReactNode;
  /** @param segment under the pointer; -1 above all */
  readonly onPick?: (time: string, segment: number) => void;
}

const MAX_TICKS = 5;
const MAX_TIMES = 8;

/** Round values up to the highest: steps of 1, 2 or 5 times a power of ten. */
const ticksTo = (highest: number): number[] => {
  if (highest <= 0) return [];
  const size = 10 ** Math.floor(Math.log10(highest / MAX_TICKS));
  const step = size * ([1, 2, 5, 10].find((times) => highest / (times * size) <= MAX_TICKS) ?? 10);
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
};

/** The path of a line where each bar is 1 wide and the highest value is 1 high. */
const pathOf = ({ values, dash }: Line, highest: number): string =>
  values
    .map((value, index) => {
      if (value === null) return '';
      const y = 1 - value / highest;
      const before = values[index - 1] ?? null;
      if (dash === undefined) return `${before === null ? 'M' : 'L'}${index + 0.5} ${y}`;
      return `${before === null ? `M${index} ${y}` : `V${y}`}H${index + 1}`;
    })
    .join('');

/** Bars over time with lines above them. Colours are those of the style sheet, in either scheme and on paper. */
export const Bars = ({ bars, colorOf, lines = [], formatAxis, label, tip, onPick }: BarsProps) => {
  const [active, setActive] = useState<number>();
  const heights = bars.map(({ values }) => values.reduce<number>((sum, value) => sum + Math.max(0, value ?? 0), 0));
  const highest = Math.max(0, ...heights, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const percent = (value: number) => `${highest > 0 ? (value / highest) * 100 : 0}%`;
  const ticks = ticksTo(highest).map((value) => ({ value, text: formatAxis(value) }));
  const every = Math.ceil(bars.length / MAX_TIMES);
  const indexAt = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((clientX - left) / width) * bars.length)));
  };
  const pick = (event: MouseEvent) => {
    const index = indexAt(event);
    // Nothing hovers over a touch screen: the first tap shows the figures.
    const isFirstTap = (event.nativeEvent as PointerEvent).pointerType === 'touch' && active !== index;
    setActive(index);
    const { segment = '-1' } = (event.target as HTMLElement).dataset;
    if (!isFirstTap && bars[index]) onPick?.(bars[index].time, Number(segment));
  };
  const middle = active === undefined ? 0 : (active + 0.5) / bars.length;
  const aside = `min(${Math.min(middle, 1 - middle) * 100}% + 26px, 100% - var(--tip))`;
  return (
    <div
      className={classes['chart']}
      style={{ ['--axis' as string]: `${Math.max(0, ...ticks.map(({ text }) => text.length)) + 1}ch` }}
      role="img"
      aria-label={label}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the table has the same figures and links. */}
      <div
        className={classes['plot']}
        onMouseMove={(event) => setActive(indexAt(event))}
        onMouseLeave={() => setActive(undefined)}
        onClick={pick}
      >
        {ticks.map(({ value, text }) => (
          <span key={value} className={classes['tick']} style={{ bottom: percent(value) }}>
            {text}
          </span>
        ))}
        {bars.map((bar, index) => (
          <div
            key={bar.time}
            className={`painted ${classes['bar']}`}
            data-active={index === active || undefined}
            data-shaded={bar.isShaded || undefined}
          >
            {bar.isMarked && <i className={classes['mark']} style={{ bottom: percent(heights[index] ?? 0) }} />}
            {bar.values.map((value, segment) =>
              value !== null && value > 0 ? (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: a segment is its place.
                  key={segment}
                  data-segment={segment}
                  style={{ height: percent(value), background: colorOf(bar, segment) }}
                />
              ) : null,
            )}
          </div>
        ))}
        {highest > 0 && (
          <svg className={classes['lines']} viewBox={`0 0 ${bars.length} 1`} preserveAspectRatio="none" aria-hidden>
            {lines.map((line) => {
              const path = pathOf(line, highest);
              return (
                <g key={`${line.color} ${line.dash}`} stroke={line.color}>
                  <path d={path} strokeDasharray={line.dash} />
                  {line.dash === undefined && (
                    <path className={classes['dots']} d={path.replaceAll(/[ML]([^ML]+)/g, 'M$1h0')} />
                  )}
                </g>
              );
            })}
          </svg>
        )}
        {active !== undefined && bars[active] && (
          <div className={classes['tip']} style={middle < 0.5 ? { left: aside } : { right: aside }} role="presentation">
            {tip(active)}
          </div>
        )}
      </div>
      <div className={classes['times']}>
        {bars.map(({ time }, index) => (
          <span key={time}>
            {index % every === 0 && (
              <span data-place={[4, 2, 1].find((place) => (index / every) % place === 0)}>{formatBucket(time)}</span>
            )}
          </span>
        ))}
      </div>
    </div>
  );
};
