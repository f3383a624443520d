// SPDX-License-Identifier: Apache-2.0
// Use over time: a lane per link or memory, busiest first.
import { timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import type { Timeline, UseOverTime } from '../document';
import { h, tip } from '../dom';
import { exactUs, percentText, shareText, timeText } from '../format';
import { arrows } from '../names';
import { cell } from '../table';
import type { Palette } from '../theme';
import { topOf } from './heat';

const most = 6;
const lane = 52;

export function useOverTime(all: UseOverTime[] | undefined, timeline: Timeline | undefined): HTMLElement {
  const shown = (all ?? []).filter((one) => one.points.length > 0).slice(0, most);
  if (shown.length === 0) return section('use', 'Use over time', 'No link is used in the step', h('p', { class: 'lead' }, 'There is nothing to draw.'));
  const first = shown[0]!;
  const to = timeline ? timeline.step.to_us : Math.max(...shown.flatMap((one) => one.points.map((point) => point[0])));
  const mean = meanOf(first, to);
  const bin = first.bin_us ? `, averaged over ${timeText(first.bin_us * 1e-6)}` : '';
  const title = `${arrows(first.name)}: ${shareText(mean)} used on average, at most ${shareText(Math.max(...first.points.map((point) => point[1])))}`;
  const count = shown.reduce((sum, one) => sum + one.points.length, 0);
  const chart = draw({
    label: `${title}. Use of ${shown.map((one) => arrows(one.name)).join(', ')} over the step.`,
    height: () => shown.length * lane + 30,
    stops: () => shown.flatMap((one, seriesIndex) => one.points.map((_, dataIndex) => ({ seriesIndex, dataIndex }))),
    table: {
      count,
      make: () => ({
        caption: `Use over time, each value until the next${bin}`,
        columns: [{ name: 'link or memory' }, { name: 'from', number: true }, { name: 'used', number: true }],
        rows: shown.flatMap((one) => one.points.map(([us, used]) => [cell(arrows(one.name)), cell(exactUs(us), us), cell(percentText(used), used)])),
      }),
    },
    option: (colours, width) => option(shown, to, colours, width),
  });
  return section('use', 'Use over time', title, chart.element, bin !== '' && h('p', { class: 'hint' }, `Use${bin}.`));
}

/** Each value holds until the next, the last one until the step ends. */
function meanOf({ points }: UseOverTime, to: number): number {
  const end = (i: number): number => points[i + 1]?.[0] ?? to;
  return points.reduce((sum, [at, used], i) => sum + used * (end(i) - at), 0) / to;
}

function option(shown: UseOverTime[], to: number, colours: Palette, width: number): Option {
  const top = shown.map((one) => topOf(Math.max(...one.points.map((point) => point[1]))));
  const { interval, text } = timeTicks(to * 1e-6, width < 480 ? 3 : 5);
  const last = shown.length - 1;
  return {
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { color: colours.muted, type: 'dashed' } },
      formatter: (items: unknown) => {
        const [item] = items as { seriesIndex: number; value: [number, number] }[];
        if (!item) return '';
        const [us, used] = item.value;
        return tip(arrows(shown[item.seriesIndex]!.name), [['from', exactUs(us), us], ['used', percentText(used), used]]);
      },
    },
    grid: shown.map((_, i) => ({ left: 44, right: 14, top: i * lane + 18, height: lane - 22 })),
    xAxis: shown.map((_, i) => ({
      type: 'value' as const,
      gridIndex: i,
      min: 0,
      max: to,
      interval: interval * 1e6,
      axisLine: { show: true, onZero: false, lineStyle: { color: colours.line } },
      axisTick: { show: i === last },
      axisLabel: { show: i === last, color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: (us: number) => text(us * 1e-6) },
      splitLine: { lineStyle: { color: colours.grid } },
    })),
    yAxis: shown.map((one, i) => ({
      type: 'value' as const,
      gridIndex: i,
      min: 0,
      max: top[i]!,
      interval: top[i]!,
      name: arrows(one.name),
      nameLocation: 'end' as const,
      nameGap: 5,
      nameTextStyle: { color: colours.text, fontSize: 12, align: 'left' as const },
      axisLabel: { color: colours.muted, fontSize: 11, formatter: (share: number) => shareText(share) },
      splitLine: { show: false },
    })),
    series: shown.map((one, i) => ({
      type: 'line' as const,
      xAxisIndex: i,
      yAxisIndex: i,
      step: 'end' as const,
      data: held(one.points, to),
      showSymbol: false,
      symbolSize: 7,
      lineStyle: { color: colours.accent, width: 1.5 },
      itemStyle: { color: colours.accent },
      areaStyle: { color: colours.accent, opacity: 0.2 },
    })),
  };
}

/** The last value holds until the step ends. */
function held(points: [number, number][], to: number): [number, number][] {
  const end = points[points.length - 1]!;
  return end[0] < to ? [...points, [to, end[1]]] : points;
}
