// SPDX-License-Identifier: Apache-2.0
// A measure over two axes: one cell per point; the best are framed.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { logarithmic } from '../axes';
import type { Option } from '../chart';
import { at, inkOn } from '../colour';
import type { Range } from '../document';
import { known } from '../format';
import type { Palette } from '../theme';
import { spanOf } from '../whiskers';
import { keyName } from './axis';
import { pointAt, type Best, type State } from './state';
import { drawnValues } from './thinned';
import { pointTip } from './tip';

export interface HeatCell {
  x: number;
  y: number;
  point: number;
}

export function cells(state: State, best: Best): HeatCell[] {
  const { across, by } = drawnValues(state, best);
  return state.by ? by.flatMap((row, y) => across.map((column, i) => ({ x: i, y, point: pointAt(state, column, row) }))) : [];
}

/** The smallest and the largest shown value. */
export const heatSpan = (state: State, best: Best): Range =>
  spanOf(cells(state, best).map(({ point }) => (state.runs[point] ? state.measure.value(state.runs[point]!) : null)), []);

/** 0 for the smallest, 1 for the largest value; logarithmic if the range is wide. */
export function place(value: number, [low, high]: Range): number {
  if (high === low) return 0.5;
  return logarithmic([low, high]) ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** Row height decreases with the number of rows, down to a few pixels. */
export const heatHeight = (state: State, best: Best): number => {
  const rows = Math.max(3, drawnValues(state, best).by.length);
  return 74 + rows * Math.max(4, Math.min(44, Math.floor(1400 / rows)));
};

export function heatOption(state: State, best: Best, colours: Palette, width: number): Option {
  const all = cells(state, best);
  const span = heatSpan(state, best);
  const drawn = drawnValues(state, best);
  const first = new Set(best.points);
  const left = width < 560 ? 84 : 120;
  const axis = (swept: { key: string }, values: string[], vertical: boolean): object => ({
    type: 'category',
    data: values,
    name: keyName(swept.key),
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 10 : 28,
    nameTextStyle: { color: colours.muted, fontSize: 12.5, align: vertical ? 'right' : 'center' },
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { color: colours.text, interval: 0, hideOverlap: true },
  });
  return {
    grid: { left, right: 10, top: 28, bottom: 46 },
    tooltip: {
      formatter: (item: unknown) => {
        const { point } = all[(item as { dataIndex: number }).dataIndex]!;
        return pointTip(state, point, best);
      },
    },
    xAxis: axis(state.x, drawn.across, false),
    yAxis: axis(state.by!, drawn.by, true),
    series: [
      {
        type: 'custom',
        data: all.map(({ x, y }) => [x, y]),
        encode: { x: 0, y: 1 },
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
          const one = all[params.dataIndex]!;
          const run = state.runs[one.point];
          const value = run ? state.measure.value(run) : null;
          const [x, y] = api.coord([one.x, one.y]) as [number, number];
          const [w, h] = (api.size!([1, 1]) as [number, number]).map((side) => side - (side > 12 ? 3 : 0)) as [number, number];
          const isBest = first.has(one.point);
          const frame = w > 12 ? 3.5 : best.tied ? 0 : 2; // frames would hide thin tied cells
          const sign = best.tied ? '≈' : '★';
          const fill = known(value) ? at(colours.scale, place(value, span)) : colours.background;
          const text = known(value) ? state.measure.text(value) : run?.fits === false ? 'does not fit' : run?.error ? 'failed' : '';
          const fits = w > text.length * 6.6 + 4;
          const body = {
            type: 'rect',
            shape: { x: x - w / 2, y: y - h / 2, width: w, height: h, r: w > 12 ? 3 : 0 },
            style: { fill, stroke: isBest ? colours.series[1] : known(value) ? 'none' : colours.line, lineWidth: isBest ? frame : 1, ...(!known(value) && { lineDash: [3, 3] }) },
            emphasis: { style: { stroke: colours.text, lineWidth: 2 } },
            textConfig: { position: 'inside' },
            textContent: {
              style: { text: fits ? (isBest ? `{best|${sign}} ${text}` : text) : isBest && w > 8 ? sign : known(value) || w < 8 ? '' : '×', fill: known(value) ? inkOn(fill) : colours.muted, fontSize: 12, rich: { best: { fill: inkOn(fill), fontSize: 13 } } },
            },
          };
          return body as never;
        },
      },
    ],
  };
}
