// SPDX-License-Identifier: Apache-2.0
// Clients that train in rounds, and the alternative with all data in one place.
import { timeAxis } from '../axes';
import { draw, section, themedLegend, type Option } from '../chart';
import { tip } from '../dom';
import { bytesText, countText, spanText, timeText, usdText } from '../format';
import { cell, tableOf, type Table } from '../table';
import { palette, type Palette } from '../theme';
import type { CampaignReport, Rounds } from './document';

type Class = Rounds['classes'][number];

const parts: [name: string, key: 'down_s' | 'compute_s' | 'up_s', colour: number][] = [
  ['receives the model', 'down_s', 5],
  ['trains', 'compute_s', 0],
  ['sends the update', 'up_s', 1],
];

const nameOf = (one: Class, index: number): string => `${countText(one.count)} ${one.name ?? `of class ${index + 1}`}`;
const whole = (one: Class): number => one.down_s + one.compute_s + one.up_s;

function option(classes: Class[], colours: Palette, width: number): Option {
  const longest = Math.max(...classes.map(whole));
  return {
    grid: { left: width < 560 ? 96 : 130, right: 22, top: 4, bottom: 28 },
    xAxis: timeAxis(longest, width, colours),
    yAxis: { type: 'category', inverse: true, data: classes.map(nameOf), axisLine: { lineStyle: { color: colours.line } }, axisTick: { show: false }, axisLabel: { color: colours.text, fontSize: 12.5, interval: 0, width: width < 560 ? 90 : 122, overflow: 'truncate' } },
    series: parts.map(([name, key, colour]) => ({
      type: 'bar',
      stack: 'all',
      barWidth: '58%',
      name,
      data: classes.map((one) => one[key]),
      itemStyle: { color: colours.series[colour], borderColor: colours.background, borderWidth: 1 },
      emphasis: { focus: 'none', itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
      tooltip: {
        formatter: (item: { dataIndex: number }) => {
          const one = classes[item.dataIndex]!;
          return tip(nameOf(one, item.dataIndex), [[name, timeText(one[key]), one[key]], ['a round of this client', timeText(whole(one)), whole(one)]]);
        },
      },
    })),
  } as Option;
}

const classTable = (classes: Class[]): Table => ({
  caption: 'Classes of clients',
  columns: [{ name: 'clients' }, ...parts.map(([name]) => ({ name, number: true })), { name: 'in total', number: true }],
  rows: classes.map((one, i) => [cell(nameOf(one, i)), ...parts.map(([, key]) => cell(timeText(one[key]), one[key])), cell(timeText(whole(one)), whole(one))]),
});

export function clients({ plan: { rounds } }: CampaignReport): HTMLElement | null {
  if (!rounds) return null;
  const { classes } = rounds;
  const slowest = classes.reduce((a, b) => (whole(b) > whole(a) ? b : a));
  const title = `${nameOf(slowest, classes.indexOf(slowest))} are the slowest clients: ${timeText(whole(slowest))} per round`;
  const chart = draw({
    label: `${title}. ${String(classes.length)} classes of clients.`,
    height: () => classes.length * 34 + 40,
    stops: () => parts.flatMap((_, seriesIndex) => classes.map((_one, dataIndex) => ({ seriesIndex, dataIndex }))),
    table: { count: classes.length, make: () => classTable(classes) },
    option: (colours, width) => option(classes, colours, width),
  });
  const key = themedLegend(() => parts.map(([name, , colour]) => [palette().series[colour]!, name]));
  return section('clients', 'Clients', title, key, chart.element);
}

/** The same training with all data in one place. */
export function movedData({ moved_data: moved, estimate }: CampaignReport): HTMLElement | null {
  if (!moved) return null;
  const there = moved.moving_s + moved.training_at_best_s;
  const title = `With the data in one place ${spanText(there)} at best, of which ${spanText(moved.moving_s)} to move the data; as configured ${spanText(estimate.mean_s)}`;
  const row = (name: string, bytes: number | null, seconds: number, usd: number | null | undefined): Table['rows'][number] => [
    cell(name),
    cell(bytes === null ? '' : bytesText(bytes), bytes),
    cell(spanText(seconds), seconds),
    cell(usdText(usd), usd ?? null),
  ];
  const table: Table = {
    caption: 'Alternative: data in one place',
    columns: [{ name: '' }, { name: 'sent', number: true }, { name: 'takes', number: true }, { name: 'costs', number: true }],
    rows: [
      row('as configured, on average', moved.exchanged_bytes, estimate.mean_s, estimate.mean_usd),
      row('move the data', moved.bytes, moved.moving_s, moved.moving_usd),
      row('... then train on the GPUs of one worker', null, moved.moving_s + moved.training_s, moved.training_usd),
      row('... or, at best, on as many GPUs as all workers have', null, there, null),
    ],
  };
  return section('moved', 'Alternative: data in one place', title, tableOf(table));
}
