// SPDX-License-Identifier: Apache-2.0
// A number over two axes: a cell a point, those that come first framed.
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
import { pointTip } from './tip';

export interface HeatCell {
  x: number;
  y: number;
  point: number;
}

export function cells(state: State): HeatCell[] {
  const { x, by } = state;
  return by ? by.values.flatMap((row, y) => x.values.map((column, i) => ({ x: i, y, point: pointAt(state, column, row) }))) : [];
}

/** The least and the largest of what is shown. */
export const heatSpan = (state: State): Range =>
  spanOf(cells(state).map(({ point }) => (state.runs[point] ? state.measure.value(state.runs[point]!) : null)), []);

/** 0 for the least, 1 for the largest; by ratio where the span is wide. */
export function place(value: number, [low, high]: Range): number {
  if (high === low) return 0.5;
  return logarithmic([low, high]) ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

export const heatHeight = (state: State): number => 64 + Math.max(3, state.by?.values.length ?? 0) * 44;

export function heatOption(state: State, best: Best, colours: Palette, width: number): Option {
  const all = cells(state);
  const span = heatSpan(state);
  const left = width < 560 ? 84 : 120;
  const axis = (swept: { key: string; values: string[] }, vertical: boolean): object => ({
    type: 'category',
    data: swept.values,
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
    xAxis: axis(state.x, false),
    yAxis: axis(state.by!, true),
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
          const [w, h] = (api.size!([1, 1]) as [number, number]).map((side) => side - 3) as [number, number];
          const isBest = best.points.includes(one.point);
          const sign = best.level ? '≈' : '★';
          const fill = known(value) ? at(colours.scale, place(value, span)) : colours.background;
          const text = known(value) ? state.measure.text(value) : run?.fits === false ? 'does not fit' : run?.error ? 'failed' : '';
          const fits = w > text.length * 6.6 + 4;
          const body = {
            type: 'rect',
            shape: { x: x - w / 2, y: y - h / 2, width: w, height: h, r: 3 },
            style: { fill, stroke: isBest ? colours.series[1] : known(value) ? 'none' : colours.line, lineWidth: isBest ? 3.5 : 1, ...(!known(value) && { lineDash: [3, 3] }) },
            emphasis: { style: { stroke: colours.text, lineWidth: 2 } },
            textConfig: { position: 'inside' },
            textContent: {
              style: { text: fits ? (isBest ? `{best|${sign}} ${text}` : text) : isBest ? sign : known(value) ? '' : '×', fill: known(value) ? inkOn(fill) : colours.muted, fontSize: 12, rich: { best: { fill: inkOn(fill), fontSize: 13 } } },
            },
          };
          return body as never;
        },
      },
    ],
  };
}
