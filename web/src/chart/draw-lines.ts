import type { Plugin } from 'chart.js';
import type { RefObject } from 'react';
import type { TrendPoint } from '../spend/groups.ts';
import { cssColor, type Series } from './options.ts';

const DOT_PX = 2.5;

/**
 * Draws each series as a line with a dot for each point, interrupted where a value is not known. The bars below are transparent: they have
 * the pointer. The line controller of chart.js would add 4 kB to the first load, since all charts share one chunk.
 */
export const drawLines = (
  latest: RefObject<{ readonly points: readonly TrendPoint[]; readonly lines: readonly Series[] }>,
): Plugin<'bar'> => ({
  id: 'drawLines',
  afterDatasetsDraw({ ctx, scales: { x, y } }) {
    if (!x || !y) return;
    const { points, lines } = latest.current;
    ctx.save();
    ctx.lineWidth = 2;
    for (const [index, { color }] of lines.entries()) {
      ctx.strokeStyle = cssColor(color);
      ctx.fillStyle = ctx.strokeStyle;
      let isInterrupted = true;
      ctx.beginPath();
      const dots = new Path2D();
      for (const [at, { values }] of points.entries()) {
        const value = values[index] ?? null;
        if (value !== null) {
          const [left, top] = [x.getPixelForValue(at), y.getPixelForValue(value)];
          ctx[isInterrupted ? 'moveTo' : 'lineTo'](left, top);
          dots.moveTo(left, top);
          dots.arc(left, top, DOT_PX, 0, 2 * Math.PI);
        }
        isInterrupted = value === null;
      }
      ctx.stroke();
      ctx.fill(dots);
    }
    ctx.restore();
  },
});
