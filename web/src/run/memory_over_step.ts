// SPDX-License-Identifier: Apache-2.0
// The memory of a GPU over the moments of a step: parts stacked, from those that last to those that change.
import { draw, section, type Option } from '../chart';
import type { MemoryOverStep } from '../document';
import { h, tip } from '../dom';
import { bytesText } from '../format';
import { cell } from '../table';
import type { Palette } from '../theme';

type Part = MemoryOverStep['parts'][number];

/** What lasts, whatever the model: one part of the chart. */
const framework = ['input', 'workspace', "allocator's slack", 'CUDA context', 'NCCL'];

/** With a colour for each part. */
function shownParts({ moments, parts }: MemoryOverStep): Part[] {
  const others = parts.filter(({ part }) => framework.includes(part));
  const sum = moments.map((_, moment) => others.reduce((bytes, part) => bytes + part.bytes[moment]!, 0));
  return [{ part: 'CUDA, NCCL, input and slack', bytes: sum }, ...parts.filter((part) => !others.includes(part))];
}

export function memoryOverStep(all: MemoryOverStep | undefined): HTMLElement | null {
  if (!all) return null;
  const { moments } = all;
  const changes = ({ bytes }: Part): number => Math.max(...bytes) - Math.min(...bytes);
  const parts = shownParts(all).sort((a, b) => changes(a) - changes(b));
  const sums = moments.map((_, moment) => parts.reduce((sum, part) => sum + part.bytes[moment]!, 0));
  const peak = sums.indexOf(Math.max(...sums));
  const title = `Memory is highest in the ${placeOf(moments[peak]!)}: ${bytesText(sums[peak]!)}`;
  const chart = draw({
    label: `${title}. Memory of the GPU that needs most over the step, by part: ${parts.map(({ part }) => part).join(', ')}.`,
    height: () => 300,
    stops: () => moments.map((_, dataIndex) => ({ seriesIndex: parts.length - 1, dataIndex })),
    table: {
      count: moments.length,
      make: () => ({
        caption: 'Memory over the step, by part',
        columns: [{ name: 'moment' }, ...parts.map(({ part }) => ({ name: part, number: true })), { name: 'all', number: true }],
        rows: moments.map((moment, i) => [cell(placeOf(moment)), ...parts.map(({ bytes }) => cell(bytesText(bytes[i]!), bytes[i]!)), cell(bytesText(sums[i]!), sums[i]!)]),
      }),
    },
    option: (colours, width) => option(parts, moments, sums, colours, width),
  });
  const hint = h('p', { class: 'hint' }, 'From left to right in the order of the operations, not in proportion to time. ', h('code', {}, 'gradway run --out'), ' writes the same as memory.pickle for pytorch.org/memory_viz.');
  return section('memory-over-step', 'Memory over the step', title, chart.element, hint);
}

function placeOf([phase, layer]: [string, string]): string {
  if (phase === 'optimizer') return "optimizer's step";
  return layer ? `${phase} pass of ${layer}` : `${phase} pass`;
}

function option(parts: Part[], moments: [string, string][], sums: number[], colours: Palette, width: number): Option {
  return {
    legend: { bottom: 0, type: 'plain', icon: 'roundRect', textStyle: { color: colours.text, fontSize: 12 }, itemWidth: 14 },
    grid: { left: 76, right: 14, top: 12, bottom: width < 480 ? 110 : 70 },
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { color: colours.muted, type: 'dashed' } },
      formatter: (items: unknown) => {
        const [item] = items as { dataIndex: number }[];
        if (!item) return '';
        const i = item.dataIndex;
        const rows = parts.filter(({ bytes }) => bytes[i]! > 0).map(({ part, bytes }): [string, string, number] => [part, bytesText(bytes[i]!), bytes[i]!]);
        return tip(placeOf(moments[i]!), [['all', bytesText(sums[i]!), sums[i]!], ...rows.reverse()]);
      },
    },
    xAxis: {
      type: 'category',
      data: moments.map(([phase]) => phase),
      boundaryGap: false,
      axisLine: { lineStyle: { color: colours.line } },
      axisTick: { show: false },
      axisLabel: { color: colours.muted, interval: (i: number, phase: string) => i > 0 && moments[i - 1]![0] !== phase, showMinLabel: true },
    },
    yAxis: { type: 'value', splitNumber: 4, axisLabel: { color: colours.muted, formatter: (bytes: number) => bytesText(bytes) }, splitLine: { lineStyle: { color: colours.grid } } },
    series: parts.map(({ part, bytes }, i) => ({
      type: 'line' as const,
      name: part,
      stack: 'memory',
      step: 'end' as const,
      data: bytes,
      showSymbol: false,
      symbolSize: 7,
      lineStyle: { width: 0.5, color: colourOf(i, colours) },
      itemStyle: { color: colourOf(i, colours) },
      areaStyle: { color: colourOf(i, colours), opacity: 0.8 },
    })),
  };
}

const colourOf = (part: number, colours: Palette): string => colours.series[part % colours.series.length]!;
