// SPDX-License-Identifier: Apache-2.0
// The campaign of median length: its progress over time and its interruptions.
import { timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import { tip } from '../dom';
import { counted, percentText, spanText } from '../format';
import { cell, type Table } from '../table';
import type { Palette } from '../theme';
import type { CampaignReport, Stop } from './document';

const stopTable = (stops: Stop[]): Table => ({
  caption: 'Interruptions',
  columns: [{ name: 'at', number: true }, { name: 'cause' }, { name: 'until training continues', number: true }, { name: 'progress', number: true }, { name: 'back to', number: true }],
  rows: stops.map((stop) => [
    cell(spanText(stop.from_s), stop.from_s),
    cell(stop.cause),
    cell(spanText(stop.to_s - stop.from_s), stop.to_s - stop.from_s),
    cell(percentText(stop.progress_before), stop.progress_before),
    cell(percentText(stop.progress_after), stop.progress_after),
  ]),
});

/** Progress over time: rises during training and drops to the last checkpoint at an interruption. */
function line({ stops, seconds }: CampaignReport['typical']): [number, number][] {
  const points: [number, number][] = [[0, 0]];
  for (const stop of stops) points.push([stop.from_s, stop.progress_before], [stop.from_s, stop.progress_after], [stop.to_s, stop.progress_after]);
  return [...points, [seconds, 1]];
}

function option(report: CampaignReport, colours: Palette, width: number): Option {
  const { typical } = report;
  const { interval, text } = timeTicks(typical.seconds, width < 560 ? 3 : 8);
  return {
    grid: { left: 56, right: 18, top: 16, bottom: 44 },
    xAxis: { type: 'value', min: 0, max: typical.seconds, interval, name: 'since the start', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.muted }, axisLine: { lineStyle: { color: colours.line } }, axisLabel: { color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: text }, splitLine: { lineStyle: { color: colours.grid } } },
    yAxis: { type: 'value', min: 0, max: 1, axisLabel: { color: colours.muted, formatter: (y: number) => `${(y * 100).toFixed(0)} %` }, splitLine: { lineStyle: { color: colours.grid } } },
    series: [
      { type: 'line', data: line(typical), showSymbol: false, silent: true, z: 2, lineStyle: { width: 2, color: colours.series[0] }, tooltip: { show: false } },
      {
        type: 'scatter',
        z: 3,
        symbolSize: typical.stops.length > 100 ? 5 : 9,
        data: typical.stops.map((stop) => [stop.from_s, stop.progress_before]),
        itemStyle: { color: colours.series[1], borderColor: colours.background, borderWidth: 0.5 },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 2 } },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const stop = typical.stops[item.dataIndex]!;
            return tip(stop.cause, [
              ['at', spanText(stop.from_s), stop.from_s],
              ['continues after', spanText(stop.to_s - stop.from_s), stop.to_s - stop.from_s],
              ['progress', percentText(stop.progress_before), stop.progress_before],
              ['back to', percentText(stop.progress_after), stop.progress_after],
            ]);
          },
        },
      },
    ],
  } as Option;
}

export function timeline(report: CampaignReport): HTMLElement {
  const { typical } = report;
  const title = `${spanText(typical.seconds)} with ${counted(typical.stops.length, 'interruption')} and ${counted(typical.checkpoints, 'checkpoint')}`;
  const chart = draw({
    label: `A campaign of median length: ${title}.`,
    height: () => 300,
    stops: () => typical.stops.map((_, dataIndex) => ({ seriesIndex: 1, dataIndex })),
    table: { count: typical.stops.length, make: () => stopTable(typical.stops) },
    option: (colours, width) => option(report, colours, width),
  });
  return section('timeline', 'A campaign of median length', title, chart.element);
}
