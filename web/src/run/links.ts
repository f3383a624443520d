// SPDX-License-Identifier: Apache-2.0
// The busiest links and memories.
import { draw, section } from '../chart';
import { at } from '../colour';
import type { LinkUse } from '../document';
import { h, tip } from '../dom';
import { bytesText, countText, percentText, shareText } from '../format';
import { arrows } from '../names';
import { cell } from '../table';
import { topOf } from './heat';

const most = 10;

/** "node0.gpu0 → node0.nvswitch (and 511 identical)" */
function nameOf(link: LinkUse): string {
  return link.alike ? `${arrows(link.name)} (and ${countText(link.alike)} identical)` : arrows(link.name);
}

/** The number of listed and omitted links. */
function extent(all: LinkUse[], leftOut: number): string | false {
  const alike = all.reduce((sum, link) => sum + (link.alike ?? 0), 0);
  if (alike + leftOut === 0) return all.length > most && `The table has all ${all.length}.`;
  const parts = [`The table has ${countText(all.length)} of ${countText(all.length + alike + leftOut)}`];
  if (alike > 0) parts.push(`${countText(alike)} have the same use as a listed one`);
  if (leftOut > 0) parts.push(`${countText(leftOut)} less busy ones are omitted`);
  return `${parts.join('; ')}.`;
}

export function links(all: LinkUse[], leftOut: number): HTMLElement {
  if (all.length === 0) return section('links', 'Busiest links', 'No link carries data', h('p', { class: 'lead' }, 'All data stay inside the GPUs.'));
  const sorted = [...all].sort((a, b) => b.busy_fraction - a.busy_fraction);
  const shown = sorted.slice(0, most);
  const first = shown[0]!;
  const top = topOf(first.busy_fraction);
  const title = `${arrows(first.name)} is the busiest, ${shareText(first.busy_fraction)} used`;
  const chart = draw({
    label: `${title}. ${shown.map((link) => `${arrows(link.name)} ${percentText(link.busy_fraction)}`).join(', ')}.`,
    height: (width) => 34 + shown.length * (width < 560 ? 40 : 27),
    stops: () => shown.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: {
      count: all.length,
      make: () => ({
        caption: 'Links and memories by use',
        columns: [{ name: 'link or memory' }, { name: 'busy', number: true }, { name: 'carried per step', number: true }],
        rows: sorted.map((link) => [cell(nameOf(link)), cell(percentText(link.busy_fraction), link.busy_fraction), cell(bytesText(link.bytes), link.bytes)]),
      }),
    },
    option: (colours, width) => {
      const wanted = 14 + 6.9 * Math.max(...shown.map((link) => link.name.length));
      const above = wanted > width * 0.5; // not enough space beside the bars: each name is above its bar
      const left = above ? 8 : wanted;
      return {
        grid: { left, right: 62, top: 4, bottom: 26 },
        tooltip: {
          formatter: (item: unknown) => {
            const link = shown[(item as { dataIndex: number }).dataIndex]!;
            return tip(nameOf(link), [
              ['busy', percentText(link.busy_fraction), link.busy_fraction],
              ['carried per step', bytesText(link.bytes), link.bytes],
            ]);
          },
        },
        xAxis: { type: 'value', min: 0, max: top, interval: width < 460 ? top / 2 : top / 5, axisLabel: { color: colours.muted, hideOverlap: true, formatter: (x: number) => shareText(x) }, splitLine: { lineStyle: { color: colours.grid } } },
        yAxis: {
          type: 'category',
          inverse: true,
          data: shown.map((link) => arrows(link.name)),
          axisLine: { lineStyle: { color: colours.line } },
          axisTick: { show: false },
          axisLabel: { show: !above, color: colours.text, width: left - 8, overflow: 'truncate', fontSize: 12.5, interval: 0 },
        },
        series: [
          {
            type: 'bar',
            barWidth: above ? '36%' : '58%',
            data: shown.map((link) => ({ value: link.busy_fraction, itemStyle: { color: at(colours.heat, 0.15 + 0.85 * link.busy_fraction) } })),
            label: { show: true, position: 'right', color: colours.text, formatter: (item: { dataIndex: number }) => percentText(shown[item.dataIndex]!.busy_fraction) },
            emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
          },
          ...(above
            ? [{ type: 'bar' as const, barGap: '-100%', barWidth: '36%', silent: true, data: shown.map(() => 0), label: { show: true, position: [0, -15] as [number, number], color: colours.text, fontSize: 12, formatter: (item: { dataIndex: number }) => arrows(shown[item.dataIndex]!.name) } }]
            : []),
        ],
      };
    },
  });
  const text = extent(all, leftOut);
  const rest = text && h('p', { class: 'hint' }, text);
  return section('links', 'Busiest links', title, chart.element, rest);
}
