// SPDX-License-Identifier: Apache-2.0
// The busiest links and memories.
import { draw, section } from '../chart';
import { at } from '../colour';
import type { LinkUse } from '../document';
import { h, tip } from '../dom';
import { bytesText, percentText, shareText } from '../format';
import { arrows } from '../names';
import { cell } from '../table';
import { topOf } from './heat';

const most = 10;

export function links(all: LinkUse[]): HTMLElement {
  if (all.length === 0) return section('links', 'Busiest links', 'No link carries anything', h('p', { class: 'lead' }, 'All that moves stays inside the GPUs.'));
  const sorted = [...all].sort((a, b) => b.busy_fraction - a.busy_fraction);
  const shown = sorted.slice(0, most);
  const first = shown[0]!;
  const top = topOf(first.busy_fraction);
  const title = `${arrows(first.name)} is the busiest, ${shareText(first.busy_fraction)} used`;
  const chart = draw({
    label: `${title}. ${shown.map((link) => `${arrows(link.name)} ${percentText(link.busy_fraction)}`).join(', ')}.`,
    height: () => 34 + shown.length * 27,
    stops: () => shown.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: {
      count: all.length,
      make: () => ({
        caption: 'Links and memories by use',
        columns: [{ name: 'link or memory' }, { name: 'busy', number: true }, { name: 'carried a step', number: true }],
        rows: sorted.map((link) => [cell(arrows(link.name)), cell(percentText(link.busy_fraction), link.busy_fraction), cell(bytesText(link.bytes), link.bytes)]),
      }),
    },
    option: (colours, width) => {
      const left = Math.min(width * 0.42, 14 + 6.9 * Math.max(...shown.map((link) => link.name.length)));
      return {
        grid: { left, right: 62, top: 4, bottom: 26 },
        tooltip: {
          formatter: (item: unknown) => {
            const link = shown[(item as { dataIndex: number }).dataIndex]!;
            return tip(arrows(link.name), [
              ['busy', percentText(link.busy_fraction), link.busy_fraction],
              ['carried a step', bytesText(link.bytes), link.bytes],
            ]);
          },
        },
        xAxis: { type: 'value', min: 0, max: top, interval: top / 5, axisLabel: { color: colours.muted, formatter: (x: number) => shareText(x) }, splitLine: { lineStyle: { color: colours.grid } } },
        yAxis: {
          type: 'category',
          inverse: true,
          data: shown.map((link) => arrows(link.name)),
          axisLine: { lineStyle: { color: colours.line } },
          axisTick: { show: false },
          axisLabel: { color: colours.text, width: left - 8, overflow: 'truncate', fontSize: 12.5, interval: 0 },
        },
        series: [
          {
            type: 'bar',
            barWidth: '58%',
            data: shown.map((link) => ({ value: link.busy_fraction, itemStyle: { color: at(colours.heat, 0.15 + 0.85 * link.busy_fraction) } })),
            label: { show: true, position: 'right', color: colours.text, formatter: (item: { dataIndex: number }) => percentText(shown[item.dataIndex]!.busy_fraction) },
            emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
          },
        ],
      };
    },
  });
  const rest = all.length > most && h('p', { class: 'hint' }, `The table has all ${all.length}.`);
  return section('links', 'Busiest links', title, chart.element, rest);
}
