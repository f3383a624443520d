// SPDX-License-Identifier: Apache-2.0
// The platform as a graph: devices, and links coloured by their use.
import { draw, section } from '../chart';
import type { Direction, Platform, PlatformLink } from '../document';
import { h, tip, type TipRow } from '../dom';
import { bytesText, counted, percentText, rateText, shareText, timeText } from '../format';
import { arrows, kindName } from '../names';
import { cell, type Table } from '../table';
import { onTheme, palette } from '../theme';
import { classes, platformOption, widthOf } from './platform_draw';
import { layoutOf, type Placed } from './platform_layout';

const rows = (one: Direction): TipRow[] => [
  [`${arrows(one.name)}: busy`, percentText(one.busy_fraction), one.busy_fraction],
  ['carried per step', bytesText(one.bytes), one.bytes],
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
    columns: [{ name: 'link or memory' }, { name: 'kind' }, { name: 'busy', number: true }, { name: 'carried per step', number: true }, { name: 'capacity', number: true }, { name: 'latency', number: true }],
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

function key(platform: Platform): HTMLElement {
  const { heat, line } = palette();
  const widths = [...new Set(platform.links.map(widthOf))].sort((a, b) => a - b);
  return h(
    'div',
    { class: 'legend' },
    h('span', { class: 'ramp' }, '0 %', h('i', { style: `background:linear-gradient(90deg,${heat.join(',')})` }), '100 % used'),
    h('span', {}, 'each link: two lines, one per direction'),
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
    option: (colours, width) => platformOption(data, { link: linkTip, device: (one) => deviceTip(data, one) }, colours, width),
  });
  const colours = h('div', {});
  const showKey = (): void => colours.replaceChildren(key(data));
  showKey();
  onTheme(showKey, colours);
  const part = data.nodes_shown < data.nodes ? `The first ${data.nodes_shown} of ${data.nodes} nodes are drawn.` : '';
  return section('platform', 'Platform', title, part && h('p', { class: 'lead' }, part), colours, chart.element);
}

type LinkLike = { name: string; busy_fraction: number };
