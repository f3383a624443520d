// SPDX-License-Identifier: Apache-2.0
// The step of each platform by parts, with its interval.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { timeTicks } from '../axes';
import { draw, section, type Option } from '../chart';
import type { ComparedRun, Tie, Range } from '../document';
import { h, tip } from '../dom';
import { counted, percentText, rangeText, timeText } from '../format';
import { stripes } from '../patterns';
import { partsLegend, stepParts } from '../run/step';
import type { Palette } from '../theme';
import { whiskers } from '../whiskers';
import { fullName, namer } from './choice';
import { compareTable } from './table';

const partNames = (runs: ComparedRun[]): { id: string; name: string }[] =>
  stepParts(runs[0]!.metrics).filter((_, i) => runs.some((run) => stepParts(run.metrics)[i]!.seconds > 0));

/** Bars longer than this multiple of the fastest step are cut, so that the others stay visible. */
const mostTimesFastest = 6;

/** End of the axis, above all bars that are not cut. @param sorted fastest first */
export function endOf(sorted: ComparedRun[]): number {
  const most = mostTimesFastest * sorted[0]!.metrics.step_time_s;
  const shown = sorted.filter((run) => run.metrics.step_time_s <= most);
  return Math.min(most, Math.max(...shown.flatMap((run) => [run.metrics.step_time_s, run.interval?.step_time_s?.[1] ?? 0])));
}

const cutAt = (range: Range | undefined, end: number): Range | undefined => range && [range[0], Math.min(range[1], end)];

/** The portion of a part below the end of the axis. */
function within(run: ComparedRun, id: string, end: number): number {
  let from = 0;
  for (const part of stepParts(run.metrics)) {
    if (part.id === id) return Math.max(0, Math.min(end, from + part.seconds) - from);
    from += part.seconds;
  }
  return 0;
}

function option(sorted: ComparedRun[], colours: Palette, width: number): Option {
  const name = namer(sorted);
  const parts = partNames(sorted);
  const narrow = width < 560;
  const end = endOf(sorted);
  const { max, interval, text } = timeTicks(end, narrow ? 3 : 6);
  return {
    grid: { left: narrow ? 158 : 210, right: narrow ? 64 : 84, top: 4, bottom: 28 },
    xAxis: { type: 'value', min: 0, max, interval, axisLabel: { color: colours.muted, hideOverlap: true, formatter: text }, splitLine: { lineStyle: { color: colours.grid } } },
    yAxis: {
      type: 'category',
      inverse: true,
      data: sorted.map(name),
      axisLine: { lineStyle: { color: colours.line } },
      axisTick: { show: false },
      axisLabel: { color: colours.text, interval: 0, fontSize: narrow ? 10.5 : 12, width: narrow ? 152 : 200, overflow: 'truncate' },
    },
    series: [
      ...parts.map((part) => ({
        type: 'bar',
        name: part.name,
        stack: 'step',
        barWidth: '56%',
        data: sorted.map((run) => within(run, part.id, max)),
        itemStyle: { color: colours.part[part.id], decal: stripes(part.id, colours) },
        emphasis: { focus: 'none', itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const run = sorted[item.dataIndex]!;
            const { seconds } = stepParts(run.metrics).find((one) => one.id === part.id)!;
            return tip(fullName(run), [
              [part.name, timeText(seconds), seconds],
              ['of the step', percentText(seconds / run.metrics.step_time_s)],
              ['step time', timeText(run.metrics.step_time_s), run.metrics.step_time_s],
              ['90 % interval', rangeText(run.interval?.step_time_s)],
            ], `bottleneck: ${run.bottleneck.resource}`);
          },
        },
      })),
      {
        type: 'custom',
        silent: true,
        z: 5,
        data: sorted.map((run, i) => [run.metrics.step_time_s, i]),
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
          const run = sorted[params.dataIndex]!;
          const [x, y] = api.coord([max, params.dataIndex]) as [number, number];
          const isCut = run.metrics.step_time_s > max;
          const notch = isCut ? [{ type: 'polygon', shape: { points: [[x - 16, y + 11], [x - 10, y - 11], [x - 6, y - 11], [x - 12, y + 11]] }, style: { fill: colours.background } }] : [];
          return { type: 'group', children: [...notch, { type: 'text', style: { text: timeText(run.metrics.step_time_s), x: x + 6, y, verticalAlign: 'middle', fill: colours.text, fontSize: 12, fontWeight: isCut ? 600 : 400 } }] } as never;
        },
      },
      whiskers(sorted.map((run, i) => ({ at: [Math.min(max, run.metrics.step_time_s), i], x: run.metrics.step_time_s <= max ? cutAt(run.interval?.step_time_s, max) : undefined, colour: colours.text }))),
    ],
  } as Option;
}

export function stepBars(runs: ComparedRun[], tied?: Tie | null): HTMLElement {
  const sorted = [...runs].sort((a, b) => a.metrics.step_time_s - b.metrics.step_time_s);
  const first = sorted[0]!;
  const name = namer(runs);
  const title = tied
    ? `${tied.runs.length} of ${runs.length} are tied for the shortest step, ${name(runs[tied.runs[0]!]!)} first with ${timeText(runs[tied.runs[0]!]!.metrics.step_time_s)}`
    : sorted.length === 1 ? `${name(first)}: ${timeText(first.metrics.step_time_s)} per step` : `${name(first)} has the shortest step, ${timeText(first.metrics.step_time_s)}`;
  const parts = partNames(sorted);
  const chart = draw({
    label: `${title}. ${sorted.map((run) => `${name(run)} ${timeText(run.metrics.step_time_s)}`).join(', ')}.`,
    height: () => 36 + sorted.length * 28,
    stops: () => sorted.flatMap((_, dataIndex) => parts.map((_, seriesIndex) => ({ seriesIndex, dataIndex }))),
    table: { count: runs.length, make: () => compareTable(sorted) },
    option: (colours, width) => option(sorted, colours, width),
  });
  const cut = sorted.filter((run) => run.metrics.step_time_s > timeTicks(endOf(sorted), 6).max).length;
  const note = cut > 0 && h('p', { class: 'hint' }, `${counted(cut, 'bar')} of slow steps ${cut === 1 ? 'is' : 'are'} cut; the figure at the end of each is its step time. Lines: 90 % intervals.`);
  return section('steps', 'Where the steps go', title, partsLegend(parts), chart.element, note);
}
