// SPDX-License-Identifier: Apache-2.0
// How long the runs take: how many end when.
import { roundEnd } from '../axes';
import { draw, section, type Option } from '../chart';
import { tip } from '../dom';
import { countText, rangeText, spanText } from '../format';
import { cell, type Table } from '../table';
import type { Palette } from '../theme';
import type { CampaignReport } from './document';

type Bar = CampaignReport['histogram'][number];

const span = (bar: Bar): string => rangeText([bar.from_s, bar.to_s], spanText);

const barTable = (bars: Bar[]): Table => ({
  caption: 'How many runs take how long',
  columns: [{ name: 'time', number: true }, { name: 'runs', number: true }],
  rows: bars.map((bar) => [cell(span(bar), bar.from_s), cell(countText(bar.runs), bar.runs)]),
});

function option(bars: Bar[], colours: Palette): Option {
  return {
    grid: { left: 56, right: 18, top: 16, bottom: 44 },
    xAxis: { type: 'category', data: bars.map((bar) => spanText(bar.from_s)), name: 'time of the campaign', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.muted }, axisTick: { show: false }, axisLine: { lineStyle: { color: colours.line } }, axisLabel: { color: colours.muted, hideOverlap: true } },
    yAxis: { type: 'value', min: 0, ...roundEnd(Math.max(...bars.map((bar) => bar.runs))), axisLabel: { color: colours.muted }, splitLine: { lineStyle: { color: colours.grid } } },
    series: [
      {
        type: 'bar',
        barCategoryGap: '6%',
        data: bars.map((bar) => bar.runs),
        itemStyle: { color: colours.series[0] },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        tooltip: { formatter: (item: { dataIndex: number }) => tip(span(bars[item.dataIndex]!), [['runs', countText(bars[item.dataIndex]!.runs), bars[item.dataIndex]!.runs]]) },
      },
    ],
  } as Option;
}

export function spread({ estimate, histogram }: CampaignReport): HTMLElement {
  const title = `Nine of ten runs take ${rangeText([estimate.seconds.low, estimate.seconds.high], spanText)}`;
  const chart = draw({
    label: `${title}, half of them less than ${spanText(estimate.seconds.median)}.`,
    height: () => 260,
    stops: () => histogram.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: histogram.length, make: () => barTable(histogram) },
    option: (colours) => option(histogram, colours),
  });
  return section('spread', 'How sure that is', title, chart.element);
}
