// SPDX-License-Identifier: Apache-2.0
// Checkpoint interval: goodput over the time between checkpoints.
import { roundEnd, valueAxis } from '../axes';
import { draw, legend, section, type Option } from '../chart';
import { h, tip } from '../dom';
import { known, percentText, spanText } from '../format';
import { cell, type Table } from '../table';
import { onTheme, palette, type Palette } from '../theme';
import type { CampaignReport } from './document';

type Choice = CampaignReport['interval'];

const curveTable = ({ curve }: Choice): Table => ({
  caption: 'Goodput by the time between checkpoints',
  columns: [{ name: 'between checkpoints', number: true }, { name: 'goodput', number: true }],
  rows: curve.map((point) => [cell(spanText(point.interval_s), point.interval_s), cell(percentText(point.goodput), point.goodput)]),
});

const marks = (choice: Choice, colours: Palette): [name: string, seconds: number, colour: string][] =>
  (
    [
      ...(choice.used_s === choice.best_s ? [] : [['in use', choice.used_s, colours.series[1]!]]),
      ['best, as simulated', choice.best_s, colours.series[2]!],
      ['Daly', choice.daly_s, colours.muted],
    ] as [string, number, string][]
  ).filter(([, seconds]) => known(seconds));

function option(choice: Choice, colours: Palette): Option {
  const values = choice.curve.map((point) => point.goodput);
  const { max: lost, interval } = roundEnd(1 - Math.min(...values));
  const low = Math.max(0, 1 - lost);
  return {
    grid: { left: 56, right: 18, top: 16, bottom: 44 },
    xAxis: { ...valueAxis({ span: [choice.curve[0]!.interval_s, choice.curve[choice.curve.length - 1]!.interval_s], seconds: 1, text: spanText, name: 'time between checkpoints', colours }) },
    yAxis: { type: 'value', min: low, max: 1, interval, axisLabel: { color: colours.muted, formatter: (y: number) => percentText(y) }, splitLine: { lineStyle: { color: colours.grid } } },
    series: [
      ...marks(choice, colours).map(([, seconds, colour]) => ({ type: 'line', silent: true, showSymbol: false, clip: true, z: 1, data: [[seconds, low], [seconds, 1]], lineStyle: { color: colour, type: 'dashed', width: 1.5 }, tooltip: { show: false } })),
      {
        type: 'line',
        z: 3,
        data: choice.curve.map((point) => [point.interval_s, point.goodput]),
        symbolSize: 8,
        lineStyle: { width: 2, color: colours.series[0] },
        itemStyle: { color: colours.series[0] },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const point = choice.curve[item.dataIndex]!;
            return tip(spanText(point.interval_s), [['goodput', percentText(point.goodput), point.goodput]]);
          },
        },
      },
    ],
  } as Option;
}

export function interval(choice: Choice): HTMLElement {
  const title = `Saving every ${spanText(choice.best_s)} is best; Daly's formula says ${spanText(choice.daly_s)}`;
  const chart = draw({
    label: `${title}. Goodput over the time between checkpoints.`,
    height: () => 260,
    stops: () => choice.curve.map((_, dataIndex) => ({ seriesIndex: marks(choice, palette()).length, dataIndex })),
    table: { count: choice.curve.length, make: () => curveTable(choice) },
    option: (colours) => option(choice, colours),
  });
  const key = h('div', {});
  const showKey = (): void => key.replaceChildren(legend(marks(choice, palette()).map(([name, seconds, colour]) => [colour, `${name}: ${spanText(seconds)}`, 'dash'])));
  showKey();
  onTheme(showKey);
  return section('interval', 'Checkpoint interval', title, key, chart.element);
}
