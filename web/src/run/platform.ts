// SPDX-License-Identifier: Apache-2.0
// The platform as a graph: devices, and links coloured by their use.
import { draw, section, type Option } from '../chart';
import { at } from '../colour';
import type { Direction, Platform, PlatformLink } from '../document';
import { h, tip, type TipRow } from '../dom';
import { bytesText, counted, percentText, rateText, shareText, timeText } from '../format';
import { arrows, kindName, shortName } from '../names';
import { cell, type Table } from '../table';
import { onTheme, palette, type Palette } from '../theme';
import { topOf } from './heat';
import { layoutOf, type Placed } from './platform_layout';

const useOf = (link: PlatformLink): number => Math.max(link.there.busy_fraction, link.back.busy_fraction);

/** Classes of capacity, each drawn wider than the one before. */
const classes: [least: number, pixels: number, text: string][] = [
  [0, 1.5, 'below 15 GB/s'],
  [15e9, 3, '15 to 60 GB/s'],
  [60e9, 5, '60 to 300 GB/s'],
  [300e9, 7.5, 'above'],
];

function widthOf(link: PlatformLink): number {
  const capacity = Math.max(link.there.capacity_bytes_per_s ?? Infinity, link.back.capacity_bytes_per_s ?? Infinity);
  return classes.filter(([least]) => capacity >= least).pop()![1];
}

const rows = (one: Direction): TipRow[] => [
  [`${arrows(one.name)}: busy`, percentText(one.busy_fraction), one.busy_fraction],
  ['carried a step', bytesText(one.bytes), one.bytes],
  ['capacity', rateText(one.capacity_bytes_per_s), one.capacity_bytes_per_s],
  ['latency', timeText(one.latency_s), one.latency_s],
];

function linkTip(link: PlatformLink): string {
  const kind = link.count > 1 ? `${link.count} × ${kindName(link.kind)}` : kindName(link.kind);
  return tip(kind, [...rows(link.there), ...rows(link.back)]);
}

function deviceTip(platform: Platform, { device }: Placed): string {
  const memories = platform.memories.filter((memory) => memory.device === device.name).flatMap(rows);
  const links = platform.links
    .filter((link) => link.a === device.name || link.b === device.name)
    .flatMap((link) => [link.there, link.back])
    .sort((a, b) => b.busy_fraction - a.busy_fraction)
    .slice(0, 4)
    .map((one): TipRow => [arrows(one.name), percentText(one.busy_fraction), one.busy_fraction]);
  return tip(`${device.name}, ${kindName(device.kind)}`, [...memories, ...links]);
}

function table(platform: Platform): Table {
  const directions = platform.links.flatMap((link) => [link.there, link.back].map((one) => ({ one, kind: kindName(link.kind) })));
  const memories = platform.memories.map((one) => ({ one: one as Direction, kind: 'memory' }));
  return {
    caption: `Links and memories of ${platform.name}`,
    columns: [{ name: 'link or memory' }, { name: 'kind' }, { name: 'busy', number: true }, { name: 'carried a step', number: true }, { name: 'capacity', number: true }, { name: 'latency', number: true }],
    rows: [...directions, ...memories].map(({ one, kind }) => [
      cell(arrows(one.name)),
      cell(kind),
      cell(percentText(one.busy_fraction), one.busy_fraction),
      cell(bytesText(one.bytes), one.bytes),
      cell(rateText(one.capacity_bytes_per_s), one.capacity_bytes_per_s),
      cell(timeText(one.latency_s), one.latency_s),
    ]),
  };
}

/** Straight, but bent around what stands between, and in arcs within a layer. */
function bend(from: Placed, to: Placed, all: Placed[]): number {
  const dx = Math.abs(from.x - to.x);
  if (Math.abs(from.y - to.y) < 1) {
    const [left, right] = from.x < to.x ? [from, to] : [to, from];
    const between = all.some((other) => Math.abs(other.y - from.y) < 1 && other.x > left.x + 1 && other.x < right.x - 1);
    return between ? (from.x < to.x ? 1 : -1) * Math.min(0.35, 70 / dx) : 0;
  }
  const passes = all.some((other) => {
    const part = (other.y - from.y) / (to.y - from.y);
    return part > 0.05 && part < 0.95 && Math.abs(from.x + part * (to.x - from.x) - other.x) < symbolWidth(other) / 2;
  });
  return passes ? 0.28 : 0;
}

const symbolWidth = ({ device, room }: Placed): number => {
  const wide = ['nvswitch', 'fabric_switch'].includes(device.kind) ? 150 : device.kind === 'socket' ? 72 : device.kind === 'nic' ? 66 : 50;
  return Math.max(8, Math.min(wide, room - 6));
};

function option(platform: Platform, top: number, colours: Palette, width: number): Option {
  const { placed, height } = layoutOf(platform, width);
  const index = new Map(placed.map((one, i) => [one.device.name, i]));
  const memory = new Map(platform.memories.map((one) => [one.device, one.busy_fraction]));
  const links = platform.links.filter((link) => index.has(link.a) && index.has(link.b));
  return {
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: { type: 'value', show: false, min: 0, max: width },
    yAxis: { type: 'value', show: false, min: 0, max: height, inverse: true },
    tooltip: {
      formatter: (item: unknown) => {
        const { dataType, dataIndex } = item as { dataType: string; dataIndex: number };
        return dataType === 'edge' ? linkTip(links[dataIndex]!) : deviceTip(platform, placed[dataIndex]!);
      },
    },
    series: [
      {
        type: 'graph',
        coordinateSystem: 'cartesian2d',
        data: placed.map((one) => {
          const size = symbolWidth(one);
          const used = memory.get(one.device.name) || undefined;
          return {
            name: one.device.name,
            value: [one.x, one.y],
            symbol: one.device.kind === 'nic' ? 'rect' : 'roundRect',
            symbolSize: [size, one.device.kind === 'gpu' ? 32 : 26],
            itemStyle: {
              color: one.device.kind === 'gpu' ? colours.grid : colours.background,
              borderColor: used === undefined ? colours.line : at(colours.heat, used / top),
              borderWidth: used === undefined ? 1.2 : 3.5,
            },
            label: { show: size >= 26, formatter: shortName(one.device.name), color: colours.text, fontSize: size < 38 ? 10 : 12, width: size - 4, overflow: 'truncate' as const },
          };
        }),
        links: links.map((link) => ({
          source: index.get(link.a)!,
          target: index.get(link.b)!,
          lineStyle: {
            color: at(colours.heat, useOf(link) / top),
            width: widthOf(link),
            opacity: 1,
            curveness: bend(placed[index.get(link.a)!]!, placed[index.get(link.b)!]!, placed),
          },
        })),
        emphasis: { focus: 'none', lineStyle: { width: 8, opacity: 1 }, itemStyle: { borderColor: colours.text }, label: { show: true } },
        cursor: 'default',
      },
    ],
  };
}

function key(platform: Platform, top: number): HTMLElement {
  const { heat, line } = palette();
  const widths = [...new Set(platform.links.map(widthOf))].sort((a, b) => a - b);
  return h(
    'div',
    { class: 'legend' },
    h('span', { class: 'ramp' }, '0 %', h('i', { style: `background:linear-gradient(90deg,${heat.join(',')})` }), `${shareText(top)} used, the busier direction`),
    ...classes
      .filter(([, pixels]) => widths.includes(pixels))
      .map(([, pixels, text]) => h('span', { class: 'ramp' }, h('i', { style: `width:22px;height:${pixels}px;background:${line}` }), text)),
    platform.memories.length > 0 && h('span', {}, 'frame of a device: its memory'),
  );
}

export function platform(data: Platform | undefined): HTMLElement | null {
  if (!data || data.devices.length === 0) return null;
  const all = [...data.links.flatMap((link) => [link.there, link.back]), ...data.memories];
  const busiest = all.reduce<LinkLike>((a, b) => (b.busy_fraction > a.busy_fraction ? b : a), { name: '', busy_fraction: 0 });
  const top = topOf(busiest.busy_fraction);
  const title =
    busiest.busy_fraction === 0
      ? `No link of ${data.name} is used`
      : busiest.busy_fraction < 0.5
        ? `No link of ${data.name} is used more than ${shareText(busiest.busy_fraction)} of the step`
        : `${arrows(busiest.name)} of ${data.name} is used ${shareText(busiest.busy_fraction)} of the step`;
  const chart = draw({
    label: `${title}. ${counted(data.devices.length, 'device')}, ${counted(data.links.length, 'link')}; the busiest: ${arrows(busiest.name) || 'none'}.`,
    height: (width) => layoutOf(data, width).height,
    stops: () => data.devices.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: all.length, make: () => table(data) },
    option: (colours, width) => option(data, top, colours, width),
  });
  const colours = h('div', {});
  const showKey = (): void => colours.replaceChildren(key(data, top));
  showKey();
  onTheme(showKey);
  const part = data.nodes_shown < data.nodes ? `The first ${data.nodes_shown} of ${data.nodes} nodes are drawn.` : '';
  return section('platform', 'Platform', title, part && h('p', { class: 'lead' }, part), colours, chart.element);
}

type LinkLike = { name: string; busy_fraction: number };
