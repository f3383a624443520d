// SPDX-License-Identifier: Apache-2.0
// The simulated pipeline schedule: a row per stage, a box per pass of a micro-batch.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { timeTicks } from '../axes';
import { draw, section, themedLegend, type Option } from '../chart';
import { inkOn } from '../colour';
import type { Pass, Pipeline, Repeated, Report } from '../document';
import { h, tip } from '../dom';
import { countText, exactUs, percentText, timeText } from '../format';
import { cell } from '../table';
import { palette, type Palette } from '../theme';
import { repeatedText } from './timeline';
import { repeatedBands } from './timeline_option';

const kinds = ['forward', 'backward', 'gradients of inputs', 'gradients of parameters'];

/** Even chunks are drawn paler. */
const opacity = (chunk: number): number => 1 - 0.38 * (chunk % 2);

const colourOf = (kind: number, colours: Palette): string => [colours.phase.forward!, colours.phase.backward!, colours.phase.backward!, colours.phase.optimizer!][kind]!;

function passTip(data: Pipeline, [stage, start, duration, kind, micro, chunk]: Pass): string {
  return tip(`${data.stages[stage]!}, ${kinds[kind]!} of micro-batch ${micro}`, [
    ...(data.chunks > 1 ? ([['chunk', String(chunk), chunk]] as [string, string, number][]) : []),
    ['start', exactUs(start), start],
    ['takes', timeText(duration * 1e-6), duration],
  ]);
}

function option(data: Pipeline, repeated: Repeated | null | undefined, row: number, colours: Palette, width: number): Option {
  const to = data.until_us ?? data.to_us;
  const { interval, text } = timeTicks(to * 1e-6, width < 560 ? 3 : 8);
  return {
    grid: { left: width < 560 ? 66 : 84, right: 14, top: 4, bottom: 62 },
    tooltip: { formatter: (item: unknown) => passTip(data, data.passes[(item as { dataIndex: number }).dataIndex]!) },
    dataZoom: [
      { type: 'inside', filterMode: 'weakFilter' },
      { type: 'slider', filterMode: 'weakFilter', height: 18, bottom: 6, showDataShadow: false, labelFormatter: '' },
    ],
    xAxis: {
      type: 'value',
      min: 0,
      max: to,
      interval: interval * 1e6,
      axisLine: { show: true, onZero: false, lineStyle: { color: colours.line } },
      axisLabel: { color: colours.muted, hideOverlap: true, showMaxLabel: false, formatter: (at: number) => text(at * 1e-6) },
      splitLine: { lineStyle: { color: colours.grid } },
    },
    yAxis: { type: 'category', inverse: true, data: data.stages, axisLine: { show: false }, axisTick: { show: false }, axisLabel: { color: colours.text, fontSize: 12 } },
    series: [
      ...(repeatedBands(repeated, colours) as object[]),
      {
        type: 'custom',
        clip: true,
        data: data.passes.map(([stage, start, duration]) => [start, stage, start + duration]),
        encode: { x: [0, 2], y: 1 },
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
          const [stage, start, duration, kind, micro, chunk] = data.passes[params.dataIndex]!;
          const [x, y] = api.coord([start, stage]) as [number, number];
          const boxWidth = Math.max(0.75, api.coord([start + duration, stage])[0]! - x);
          const height = row - 6;
          const fill = colourOf(kind, colours);
          return {
            type: 'rect' as const,
            shape: { x, y: y - height / 2, width: boxWidth, height },
            style: { fill, opacity: opacity(chunk), stroke: colours.background, lineWidth: boxWidth > 4 ? 0.8 : 0 },
            emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } },
            textConfig: { position: 'inside' as const },
            textContent: { type: 'text' as const, style: { text: boxWidth > 8 + 7 * String(micro).length ? String(micro) : '', fill: inkOn(fill), fontSize: 11 } },
          };
        },
      },
    ],
  };
}

export function pipeline(data: Pipeline | undefined, repeated: Repeated | null | undefined, { metrics }: Report): HTMLElement | null {
  if (!data || data.passes.length === 0) return null;
  const bubble = metrics.bubble_s ?? 0;
  const title = `${data.stages.length} stages wait for each other for ${percentText(bubble / metrics.step_time_s)} of the step, on average`;
  const row = data.stages.length > 24 ? 16 : 24;
  const chart = draw({
    label: `${title}. ${countText(data.passes.length)} passes of micro-batches through the stages.`,
    height: () => data.stages.length * row + 70,
    renderer: data.passes.length > 2000 ? 'canvas' : 'svg',
    stops: () => data.passes.map((_, dataIndex) => ({ seriesIndex: repeated ? 1 : 0, dataIndex })),
    table: {
      count: data.passes.length,
      make: () => ({
        caption: 'Passes in the order of their start',
        columns: [{ name: 'stage' }, { name: 'pass' }, { name: 'micro-batch', number: true }, { name: 'chunk', number: true }, { name: 'start', number: true }, { name: 'takes', number: true }],
        rows: data.passes.slice(0, 2000).map(([stage, start, duration, kind, micro, chunk]) => [
          cell(data.stages[stage]!),
          cell(kinds[kind]!),
          cell(String(micro), micro),
          cell(String(chunk), chunk),
          cell(exactUs(start), start),
          cell(timeText(duration * 1e-6), duration),
        ]),
      }),
    },
    option: (colours, width) => option(data, repeated, row, colours, width),
  });
  const halves = data.passes.some((pass) => pass[3] > 1);
  const key = themedLegend(() => [
    [colourOf(0, palette()), 'forward'],
    [colourOf(1, palette()), halves ? 'backward, or gradients of inputs' : 'backward'],
    ...(halves ? ([[colourOf(3, palette()), 'gradients of parameters']] as [string, string][]) : []),
  ]);
  const cut = data.until_us === null ? null : h('p', { class: 'hint' }, `The first ${countText(data.passes.length)} passes.`);
  const marked = repeated ? h('p', { class: 'lead' }, repeatedText(repeated)) : null;
  return section('pipeline', 'Pipeline', title, marked, key, chart.element, cut);
}
