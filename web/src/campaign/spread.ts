// SPDX-License-Identifier: Apache-2.0
// Histogram of the durations of the runs.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { roundEnd, timeAxis, timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import { tip } from '../dom';
import { countText, rangeText, spanText } from '../format';
import { cell, type Table } from '../table';
import type { Palette } from '../theme';
import type { CampaignReport } from './document';

type Bar = CampaignReport['histogram'][number];

const span = (bar: Bar): string => rangeText([bar.from_s, bar.to_s], spanText);

const barTable = (bars: Bar[]): Table => ({
  caption: 'Runs by duration',
  columns: [{ name: 'time', number: true }, { name: 'runs', number: true }],
  rows: bars.map((bar) => [cell(span(bar), bar.from_s), cell(countText(bar.runs), bar.runs)]),
});

function option(bars: Bar[], colours: Palette, width: number): Option {
  const [from, to] = [bars[0]?.from_s ?? 0, bars[bars.length - 1]?.to_s ?? 1];
  // The span must not be empty, because it would have no ticks.
  const { interval } = timeTicks(Math.max(to - from, to * 1e-3), width < 560 ? 2 : 5, to);
  return {
    grid: { left: 56, right: 18, top: 16, bottom: 44 },
    xAxis: { ...timeAxis(to, width, colours), min: Math.floor(from / interval) * interval, max: Math.ceil(to / interval) * interval, interval, axisLabel: { color: colours.muted, hideOverlap: true, formatter: timeTicks(to, 6).text }, name: 'time of the campaign', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.muted } },
    yAxis: { type: 'value', min: 0, ...roundEnd(Math.max(...bars.map((bar) => bar.runs))), axisLabel: { color: colours.muted }, splitLine: { lineStyle: { color: colours.grid } } },
    series: [
      {
        type: 'custom',
        data: bars.map((bar) => [bar.from_s, bar.runs, bar.to_s]),
        encode: { x: [0, 2], y: 1 },
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
          const bar = bars[params.dataIndex]!;
          const [left, top] = api.coord([bar.from_s, bar.runs]) as [number, number];
          const [end, bottom] = api.coord([bar.to_s, 0]) as [number, number];
          return { type: 'rect', shape: { x: left + 0.5, y: top, width: Math.max(0.5, end - left - 1), height: bottom - top }, style: { fill: colours.series[0] }, emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } } } as never;
        },
        tooltip: { formatter: (item: { dataIndex: number }) => tip(span(bars[item.dataIndex]!), [['runs', countText(bars[item.dataIndex]!.runs), bars[item.dataIndex]!.runs]]) },
      },
    ],
  } as Option;
}

export function spread({ estimate, histogram }: CampaignReport): HTMLElement {
  const title = `90 % of the runs take ${rangeText([estimate.seconds.low, estimate.seconds.high], spanText)}`;
  const chart = draw({
    label: `${title}, half of them less than ${spanText(estimate.seconds.median)}.`,
    height: () => 260,
    stops: () => histogram.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: histogram.length, make: () => barTable(histogram) },
    option: (colours, width) => option(histogram, colours, width),
  });
  return section('spread', 'Spread of the runs', title, chart.element);
}
