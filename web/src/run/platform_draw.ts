// SPDX-License-Identifier: Apache-2.0
// The drawing of a platform: each link is two lines, one per direction, coloured by use; devices are on top.
import type { CustomSeriesRenderItemParams, CustomSeriesRenderItemReturn } from 'echarts';
import type { Option } from '../chart';
import { at } from '../colour';
import type { Platform, PlatformLink } from '../document';
import { shortName } from '../names';
import type { Palette } from '../theme';
import { layoutOf, type Placed } from './platform_layout';

/** Classes of capacity with increasing line width: the width of both directions together. */
export const classes: [least: number, pixels: number, text: string][] = [
  [0, 3, 'below 15 GB/s'],
  [15e9, 5, '15 to 60 GB/s'],
  [60e9, 7, '60 to 300 GB/s'],
  [300e9, 10, 'from 300 GB/s'],
];

export function widthOf(link: PlatformLink): number {
  const capacity = Math.max(link.there.capacity_bytes_per_s ?? Infinity, link.back.capacity_bytes_per_s ?? Infinity);
  return classes.filter(([least]) => capacity >= least).pop()![1];
}

/** Offset of the middle of a link: around devices in between, and in arcs within a layer. */
function bend(from: Placed, to: Placed, all: Placed[]): [x: number, y: number] {
  const dx = to.x - from.x;
  if (Math.abs(from.y - to.y) < 1) {
    const between = all.some((other) => Math.abs(other.y - from.y) < 1 && (other.x - from.x) * (other.x - to.x) < -1);
    return between ? [0, -Math.min(86, 34 + Math.abs(dx) * 0.06)] : [0, 0];
  }
  const passes = all.find((other) => {
    const part = (other.y - from.y) / (to.y - from.y);
    return part > 0.05 && part < 0.95 && Math.abs(from.x + part * dx - other.x) < other.width / 2 + 4;
  });
  if (!passes) return [0, 0];
  const side = (from.x + to.x) / 2 < passes.x ? -1 : 1;
  return [side * (passes.width + 22), 0];
}

function direction(ends: [Placed, Placed], aside: [number, number], shift: [number, number], stroke: string, lineWidth: number): object {
  const [from, to] = ends;
  const [dx, dy] = shift;
  const shape = { x1: from.x + dx, y1: from.y + dy, x2: to.x + dx, y2: to.y + dy };
  const style = { fill: 'none', stroke, lineWidth };
  if (aside[0] === 0 && aside[1] === 0) return { type: 'line', shape, style };
  return { type: 'bezierCurve', shape: { ...shape, cpx1: (shape.x1 + shape.x2) / 2 + aside[0], cpy1: (shape.y1 + shape.y2) / 2 + aside[1] }, style };
}

function linkElement(link: PlatformLink, ends: [Placed, Placed], all: Placed[], colours: Palette): CustomSeriesRenderItemReturn {
  const [from, to] = ends;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const wide = widthOf(link);
  const half = wide / 4 + 0.4;
  const shift: [number, number] = [(-(to.y - from.y) / length) * half, ((to.x - from.x) / length) * half];
  const aside = bend(from, to, all);
  const colourOf = (busy: number): string => at(colours.heat, busy);
  const back = shift.map((one) => -one) as [number, number];
  const line = (way: [number, number], busy: number): object => ({
    ...direction(ends, aside, way, colourOf(busy), wide / 2),
    emphasis: { style: { stroke: colours.accent, lineWidth: wide / 2 + 1 } },
  });
  return { type: 'group', children: [line(shift, link.there.busy_fraction), line(back, link.back.busy_fraction)] } as never;
}

function deviceElement(one: Placed, used: number | undefined, colours: Palette): CustomSeriesRenderItemReturn {
  const { device, width, height } = one;
  return {
    type: 'rect',
    shape: { x: one.x - width / 2, y: one.y - height / 2, width, height, r: device.kind === 'nic' ? 1 : 6 },
    style: {
      fill: device.kind === 'gpu' ? colours.grid : colours.background,
      stroke: used ? at(colours.heat, used) : colours.line,
      lineWidth: used ? 3 : 1.2,
    },
    emphasis: { style: { stroke: colours.accent, lineWidth: 2.5 } },
    textConfig: { position: 'inside' },
    textContent: {
      style: { text: width >= 26 ? shortName(device.name) : '', fill: colours.text, fontSize: width < 40 ? 10 : 12, width: Math.max(1, width - 4), overflow: 'truncate', ellipsis: '…' },
    },
  } as never;
}

export interface Tips {
  link: (link: PlatformLink) => string;
  device: (device: Placed) => string;
}

export function platformOption(platform: Platform, tips: Tips, colours: Palette, width: number): Option {
  const { placed, height } = layoutOf(platform, width);
  const by = new Map(placed.map((one) => [one.device.name, one]));
  const memory = new Map(platform.memories.map((one) => [one.device, one.busy_fraction]));
  const drawn = platform.links.flatMap((link) => {
    const [a, b] = [by.get(link.a), by.get(link.b)];
    return a && b ? [{ link, ends: [a, b] as [Placed, Placed] }] : [];
  });
  const index = ({ dataIndex }: { dataIndex: number }): number => dataIndex;
  return {
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: { type: 'value', show: false, min: 0, max: width },
    yAxis: { type: 'value', show: false, min: 0, max: height, inverse: true },
    series: [
      {
        type: 'custom',
        id: 'devices',
        z: 3,
        data: placed.map((one) => [one.x, one.y]),
        renderItem: (params: CustomSeriesRenderItemParams) => {
          const one = placed[params.dataIndex]!;
          return deviceElement(one, memory.get(one.device.name), colours);
        },
        tooltip: { formatter: (item: never) => tips.device(placed[index(item)]!) },
      },
      {
        type: 'custom',
        id: 'links',
        z: 2,
        data: drawn.map(({ ends: [from, to] }) => [(from.x + to.x) / 2, (from.y + to.y) / 2]),
        renderItem: (params: CustomSeriesRenderItemParams) => {
          const { link, ends } = drawn[params.dataIndex]!;
          return linkElement(link, ends, placed, colours);
        },
        tooltip: { formatter: (item: never) => tips.link(drawn[index(item)]!.link) },
      },
    ],
  } as Option;
}
