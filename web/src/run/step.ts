// SPDX-License-Identifier: Apache-2.0
// Where the step goes: one bar for its parts, one for exposed and overlapped communication.
import { timeAxis } from '../axes';
import { draw, section, themedLegend } from '../chart';
import type { Metrics, Parts, Report } from '../document';
import { tip } from '../dom';
import { percentText, shareText, timeText } from '../format';
import { stripes } from '../patterns';
import { cell } from '../table';
import { palette, type Palette } from '../theme';

interface Part {
  id: string;
  name: string;
  seconds: number;
  /** Its bar: the step, or the communication. */
  row: 0 | 1;
}

/** All communication is either exposed or overlapped. */
const hidden = (metrics: Metrics): number => Math.max(0, metrics.communication_s - metrics.exposed_communication_s);

/** The parts of a step add up to it. */
export const stepParts = (metrics: Parts): Part[] => [
  { id: 'compute', name: 'compute', seconds: metrics.compute_s, row: 0 },
  { id: 'exposed', name: 'exposed communication', seconds: metrics.exposed_communication_s, row: 0 },
  { id: 'input', name: 'input wait', seconds: metrics.input_wait_s, row: 0 },
  { id: 'optimizer', name: 'optimizer', seconds: metrics.optimizer_s, row: 0 },
  { id: 'launch', name: 'launch-bound', seconds: metrics.launch_bound_s, row: 0 },
  { id: 'idle', name: 'idle', seconds: metrics.idle_s, row: 0 },
];

const communication = (metrics: Metrics): Part[] => [
  { id: 'exposed', name: 'exposed communication', seconds: metrics.exposed_communication_s, row: 1 },
  { id: 'hidden', name: 'overlapped communication', seconds: hidden(metrics), row: 1 },
];

function finding(metrics: Metrics, isCollective: boolean): string {
  if (isCollective) return `The collective takes ${timeText(metrics.step_time_s)}`;
  const largest = stepParts(metrics).reduce((a, b) => (b.seconds > a.seconds ? b : a));
  const share = shareText(largest.seconds / metrics.step_time_s);
  const says: Record<string, string> = {
    compute: `${share} of the step is computing`,
    exposed: `${share} of the step waits for communication`,
    input: `${share} of the step waits for input`,
    optimizer: `${share} of the step is the optimizer`,
    launch: `${share} of the step waits for the CPU to launch kernels`,
    idle: `${share} of the step the GPU is idle`,
  };
  return says[largest.id]!;
}

export function step({ metrics, scenario }: Report): HTMLElement {
  const all = metrics.step_time_s;
  const parts = [...stepParts(metrics), ...communication(metrics)];
  const title = finding(metrics, scenario.strategy.kind === 'collective');
  const listed = [...stepParts(metrics), communication(metrics)[1]!];
  const drawn = parts.filter((part) => part.seconds > 0);
  const chart = draw({
    label: `${title}. ${listed.map((part) => `${part.name} ${timeText(part.seconds)}`).join(', ')}.`,
    height: () => 160,
    stops: () => drawn.map((_, seriesIndex) => ({ seriesIndex, dataIndex: drawn[seriesIndex]!.row })),
    table: {
      count: listed.length,
      make: () => ({
        caption: 'Where the step goes',
        columns: [{ name: 'part' }, { name: 'time', number: true }, { name: 'of the step', number: true }],
        rows: listed.map((part) => [cell(part.name), cell(timeText(part.seconds), part.seconds), cell(percentText(part.seconds / all), part.seconds)]),
      }),
    },
    option: (colours, width) => ({
      grid: { left: width < 560 ? 8 : 120, right: 18, top: 4, bottom: 26 },
      tooltip: { trigger: 'item' },
      xAxis: timeAxis(all, width, colours, true),
      yAxis: {
        type: 'category',
        inverse: true,
        data: ['the step', 'communication'],
        axisLine: { lineStyle: { color: colours.line } },
        axisTick: { show: false },
        axisLabel: { show: width >= 560, color: colours.text, fontSize: 13 },
      },
      series: drawn.map((part) => ({
        type: 'bar' as const,
        name: part.name,
        stack: 'all',
        barWidth: '62%',
        data: [0, 1].map((row) => (row === part.row ? part.seconds : null)),
        itemStyle: { color: colours.part[part.id]!, borderColor: colours.background, borderWidth: 1, decal: stripes(part.id, colours) },
        label: label(part, all, colours, width),
        emphasis: { focus: 'none' as const, itemStyle: { borderColor: colours.text, borderWidth: 2 } },
        tooltip: {
          formatter: () =>
            tip(part.name, [
              ['time', timeText(part.seconds), part.seconds],
              ['of the step', percentText(part.seconds / all)],
            ], part.id === 'hidden' ? 'runs during kernels' : ''),
        },
      })),
    }),
  });
  return section('step', 'Where the step goes', title, partsLegend(listed.filter((part) => part.seconds > 0)), chart.element);
}

/** A legend of the parts of a step. */
export const partsLegend = (parts: { id: string; name: string }[]): HTMLElement =>
  themedLegend(() => parts.map(({ id, name }) => [palette().part[id]!, name, id === 'exposed' || id === 'hidden' ? 'stripes' : 'box']));

/** Text inside the bar, if there is space. */
function label(part: Part, all: number, colours: Palette, width: number): object {
  const room = (part.seconds / all) * width * 0.82;
  const text = `${timeText(part.seconds)} · ${shareText(part.seconds / all)}`;
  const share = shareText(part.seconds / all);
  const fits = room > text.length * 8 ? text : room > share.length * 9 ? share : '';
  return {
    show: fits !== '',
    formatter: () => fits,
    color: colours.text,
    backgroundColor: colours.background,
    borderRadius: 3,
    padding: [2, 5],
    fontSize: 12.5,
  };
}
