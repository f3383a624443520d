// SPDX-License-Identifier: Apache-2.0
// Intervals as thin lines with end caps, along x, y or both.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import type { Range } from './document';

export interface Whisker {
  at: [x: number | string, y: number | string];
  x?: Range | undefined;
  y?: Range | undefined;
  colour: string;
  /** Index of the bar and number of bars, if bars are grouped. */
  of?: [index: number, count: number];
}

const half = 4;

export function whiskers(all: Whisker[], extra: object = {}): object {
  const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): object => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: 1.4, opacity: 0.85 } });
  const series = {
    type: 'custom',
    silent: true,
    clip: true,
    z: 4,
    data: all.map((one) => one.at),
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const one = all[params.dataIndex]!;
      const place = (x: number | string, y: number | string): [number, number] => api.coord([x, y] as number[]) as [number, number];
      const shift = one.of ? api.barLayout({ count: one.of[1], barGap: '15%', barCategoryGap: '35%' } as never)![one.of[0]]!.offsetCenter : 0;
      const children: object[] = [];
      if (one.x) {
        const [low, y] = place(one.x[0], one.at[1]);
        const [high] = place(one.x[1], one.at[1]);
        children.push(line(low, y, high, y, one.colour), line(low, y - half, low, y + half, one.colour), line(high, y - half, high, y + half, one.colour));
      }
      if (one.y) {
        const [x0, low] = place(one.at[0], one.y[0]);
        const [, high] = place(one.at[0], one.y[1]);
        const x = x0 + shift;
        children.push(line(x, low, x, high, one.colour), line(x - half, low, x + half, low, one.colour), line(x - half, high, x + half, high, one.colour));
      }
      return { type: 'group', children } as never;
    },
  };
  return { ...series, ...extra };
}

/** The ends of all intervals and values, for the range of an axis. */
export function spanOf(values: (number | null | undefined)[], ranges: (Range | undefined)[]): Range {
  const all = [...values, ...ranges.flatMap((range) => range ?? [])].filter((x): x is number => typeof x === 'number' && Number.isFinite(x));
  return all.length > 0 ? [Math.min(...all), Math.max(...all)] : [0, 1];
}
