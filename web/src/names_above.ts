// SPDX-License-Identifier: Apache-2.0
// Names of points in rows above their plot, each on a line to its point, so that no name covers a point, an interval or another name.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import type { Palette } from './theme';

export interface Named {
  name: string;
  at: [x: number, y: number];
  /** The upper end of its interval. */
  high?: number | undefined;
}

export interface Plot {
  /** The horizontal axis, of `valueAxis`. */
  axis: object;
  left: number;
  right: number;
  width: number;
  colours: Palette;
}

const rowHeight = 17;
const gap = 6;
const axisName = 24;
const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

const pen = document.createElement('canvas').getContext('2d');
function widthOf(text: string): number {
  if (!pen) return text.length * 7;
  pen.font = font;
  return pen.measureText(text).width;
}

interface Placed {
  point: Named;
  row: number;
  isLeft: boolean;
}

/** Names begin at their lines, those close to the right end at it. A name is above all lines that it would cross.
 * @param points the most important first; those that more than this number of rows would be needed for have no name */
function placed(points: Named[], { axis, left, right, width }: Plot, mostRows: number): Placed[] {
  const { min, max, type } = axis as { min: number; max: number; type: string };
  const scale = (value: number): number => (type === 'log' ? Math.log(value) : value);
  const plotWidth = width - left - right;
  const all = points.slice(0, mostRows).map((point) => ({ point, x: ((scale(point.at[0]) - scale(min)) / (scale(max) - scale(min))) * plotWidth, size: widthOf(point.name) + gap })).sort((a, b) => b.x - a.x);
  let end = plotWidth + right;
  const rightwards: typeof all = [];
  const leftwards: typeof all = [];
  for (const one of all) {
    if (one.x + one.size > end) {
      leftwards.unshift(one);
      end = one.x;
    } else {
      rightwards.push(one);
    }
  }
  const done: (Placed & { x: number })[] = [];
  const add = ({ point, x, size }: (typeof all)[number], isLeft: boolean): void => {
    const [from, to] = isLeft ? [x - size, x] : [x, x + size];
    const row = Math.max(-1, ...done.filter((other) => other.x >= from && other.x <= to).map((other) => other.row)) + 1;
    if (from > -left) done.push({ point, row, isLeft, x });
  };
  for (const one of rightwards) add(one, false);
  for (const one of leftwards) add(one, true);
  return done;
}

/** @return top: of the plot; nameGap: of the vertical axis, whose name is above all others */
export function namesAbove(points: Named[], plot: Plot, mostRows = 8): { top: number; nameGap: number; series: object } {
  const names = placed(points, plot, mostRows);
  const height = rowHeight * (Math.max(-1, ...names.map(({ row }) => row)) + 1);
  const top = axisName + height;
  const { colours } = plot;
  const series = {
    type: 'custom',
    silent: true,
    clip: false,
    z: 2,
    tooltip: { show: false },
    data: names.map(({ point }) => point.at),
    renderItem: ({ dataIndex }: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const { point, row, isLeft } = names[dataIndex]!;
      const [x, high] = api.coord([point.at[0], point.high ?? point.at[1]]) as [number, number];
      const bottom = top - 2 - rowHeight * row;
      return {
        type: 'group',
        children: [
          { type: 'line', shape: { x1: x, y1: high, x2: x, y2: bottom - rowHeight + 4 }, style: { stroke: colours.muted, lineWidth: 1, lineDash: [2, 3] } },
          { type: 'text', style: { text: point.name, x: x + (isLeft ? -4 : 4), y: bottom - 1, font, fill: colours.text, align: isLeft ? 'right' : 'left', verticalAlign: 'bottom' } },
        ],
      } as never;
    },
  };
  return { top, nameGap: height + 10, series };
}
