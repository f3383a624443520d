// SPDX-License-Identifier: Apache-2.0
// The step of each platform, what it is made of, and its interval.
import { roundEnd } from '../axes';
import { draw, section, type Option } from '../chart';
import type { ComparedRun, Tie } from '../document';
import { tip } from '../dom';
import { percentText, rangeText, timeText } from '../format';
import { tieText } from '../header';
import { stripes } from '../patterns';
import { stepParts } from '../run/step';
import type { Palette } from '../theme';
import { whiskers } from '../whiskers';
import { fullName, namer } from './choice';
import { compareTable } from './table';

const partNames = (runs: ComparedRun[]): { id: string; name: string }[] =>
  stepParts(runs[0]!.metrics).filter((_, i) => runs.some((run) => stepParts(run.metrics)[i]!.seconds > 0));

function option(sorted: ComparedRun[], colours: Palette, width: number): Option {
  const name = namer(sorted);
  const parts = partNames(sorted);
  const narrow = width < 560;
  const longest = Math.max(...sorted.flatMap((run) => [run.metrics.step_time_s, run.interval?.step_time_s?.[1] ?? 0]));
  return {
    grid: { left: narrow ? 158 : 210, right: narrow ? 16 : 30, top: narrow ? 62 : 40, bottom: 28 },
    legend: { left: 0, top: 0, selectedMode: false, itemWidth: 16, itemHeight: 12, data: parts.map((part) => part.name), textStyle: { color: colours.muted, fontSize: 13 } },
    xAxis: { type: 'value', min: 0, ...roundEnd(longest), axisLabel: { color: colours.muted, hideOverlap: true, formatter: (x: number) => timeText(x) }, splitLine: { lineStyle: { color: colours.grid } } },
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
        data: sorted.map((run) => stepParts(run.metrics).find((one) => one.id === part.id)!.seconds),
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
              ['nine of ten cases', rangeText(run.interval?.step_time_s)],
            ], `bottleneck: ${run.bottleneck.resource}`);
          },
        },
      })),
      whiskers(sorted.map((run, i) => ({ at: [run.metrics.step_time_s, i], x: run.interval?.step_time_s, colour: colours.text }))),
    ],
  } as Option;
}

export function stepBars(runs: ComparedRun[], tied?: Tie | null): HTMLElement {
  const sorted = [...runs].sort((a, b) => a.metrics.step_time_s - b.metrics.step_time_s);
  const first = sorted[0]!;
  const name = namer(runs);
  const title = tied ? `${tied.runs.map((index) => name(runs[index]!)).join(', ')}: tied, ${tieText(tied)}` : sorted.length === 1 ? `${name(first)}: ${timeText(first.metrics.step_time_s)} a step` : `${name(first)} has the shortest step, ${timeText(first.metrics.step_time_s)}`;
  const parts = partNames(sorted);
  const chart = draw({
    label: `${title}. ${sorted.map((run) => `${name(run)} ${timeText(run.metrics.step_time_s)}`).join(', ')}.`,
    height: (width) => (width < 560 ? 90 : 68) + sorted.length * 30,
    stops: () => sorted.flatMap((_, dataIndex) => parts.map((_, seriesIndex) => ({ seriesIndex, dataIndex }))),
    table: { count: runs.length, make: () => compareTable(sorted) },
    option: (colours, width) => option(sorted, colours, width),
  });
  return section('steps', 'Where the steps go', title, chart.element);
}
