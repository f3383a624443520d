// SPDX-License-Identifier: Apache-2.0
// From productive steps to the paid time: the mean contribution of each part.
import { timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import { tip } from '../dom';
import { percentText, spanText } from '../format';
import { cell, type Table } from '../table';
import type { Palette } from '../theme';
import type { CampaignReport } from './document';

interface Part {
  key: string;
  name: string;
  from: number;
  seconds: number;
}

/** The parts one after the other, then their sum. */
function partsOf({ estimate, labels }: CampaignReport): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const [key, seconds] of Object.entries(estimate.mean_buckets_s)) {
    if (seconds <= 0) continue;
    parts.push({ key, name: labels[key] ?? key, from, seconds });
    from += seconds;
  }
  return [...parts, { key: 'paid', name: 'paid', from: 0, seconds: estimate.mean_s }];
}

const partTable = (parts: Part[], report: CampaignReport): Table => ({
  caption: 'Where the time goes',
  columns: [{ name: 'part' }, { name: 'time', number: true }, { name: 'share', number: true }, { name: 'definition' }],
  rows: parts.map((part) => [
    cell(part.name),
    cell(spanText(part.seconds), part.seconds),
    cell(percentText(part.seconds / report.estimate.mean_s), part.seconds / report.estimate.mean_s),
    cell(report.definitions[part.key] ?? 'sum of all parts'),
  ]),
});

function option(parts: Part[], report: CampaignReport, colours: Palette, width: number): Option {
  const narrow = width < 560;
  // The axis begins near the end of the productive steps, because losses are small.
  const steps = parts[0]!.seconds;
  const after = steps > 0.7 * report.estimate.mean_s ? Math.max(0, steps - 0.25 * (report.estimate.mean_s - steps)) : 0;
  const { max, interval, text } = timeTicks(report.estimate.mean_s - after, narrow ? 2 : 5, report.estimate.mean_s);
  const start = Math.floor(after / interval) * interval;
  const all = report.estimate.mean_s - start;
  return {
    grid: { left: narrow ? 118 : 150, right: narrow ? 60 : 90, top: 6, bottom: 28 },
    xAxis: { type: 'value', min: start, max: start === 0 ? max : report.estimate.mean_s + 0.08 * all, interval, axisLabel: { color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: text }, splitLine: { lineStyle: { color: colours.grid } } },
    yAxis: { type: 'category', inverse: true, data: parts.map((part) => part.name), axisLine: { show: false }, axisTick: { show: false }, axisLabel: { color: colours.text, interval: 0, fontSize: 12 } },
    series: [
      { type: 'bar', stack: 'all', silent: true, itemStyle: { color: 'transparent' }, data: parts.map((part) => part.from), tooltip: { show: false } },
      {
        type: 'bar',
        stack: 'all',
        barWidth: '62%',
        data: parts.map((part) => ({ value: part.seconds, itemStyle: { color: part.key === 'paid' ? colours.other : part.key === 'productive_steps' ? colours.series[0] : colours.series[1] } })),
        label: { show: true, position: 'right', color: colours.text, fontSize: 11.5, formatter: (item: { dataIndex: number }) => percentText(parts[item.dataIndex]!.seconds / report.estimate.mean_s) },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const part = parts[item.dataIndex]!;
            return tip(part.name, [
              ['time', spanText(part.seconds), part.seconds],
              ['of all', percentText(part.seconds / report.estimate.mean_s)],
            ], report.definitions[part.key] ?? '');
          },
        },
      },
    ],
  } as Option;
}

export function waterfall(report: CampaignReport): HTMLElement {
  const parts = partsOf(report);
  const title = `${percentText(report.estimate.mean_buckets_s.productive_steps! / report.estimate.mean_s)} of the time is productive`;
  const chart = draw({
    label: `${title}. ${parts.map((part) => `${part.name} ${spanText(part.seconds)}`).join(', ')}.`,
    height: () => parts.length * 28 + 40,
    stops: () => parts.map((_, dataIndex) => ({ seriesIndex: 1, dataIndex })),
    table: { count: parts.length, make: () => partTable(parts, report) },
    option: (colours, width) => option(parts, report, colours, width),
  });
  return section('waterfall', 'Where the time goes', title, chart.element);
}
