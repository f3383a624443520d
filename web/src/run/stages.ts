// SPDX-License-Identifier: Apache-2.0
// Comparison of pipeline stages: parts of the step and memory.
import { timeAxis } from '../axes';
import { draw, section } from '../chart';
import type { Program, Report } from '../document';
import { tip } from '../dom';
import { bytesText, percentText, timeText } from '../format';
import { stripes } from '../patterns';
import { cell } from '../table';
import { partsLegend, stepParts } from './step';

/** Time of a stage without waiting. */
const busy = (one: Program): number => one.compute_s + one.optimizer_s;

export function stages({ programs, metrics }: Report): HTMLElement | null {
  if (!programs || programs.length < 2) return null;
  const all = metrics.step_time_s;
  const busiest = programs.reduce((a, b) => (busy(b) > busy(a) ? b : a));
  const fullest = programs.reduce((a, b) => ((b.memory.needed_bytes ?? 0) > (a.memory.needed_bytes ?? 0) ? b : a));
  const title = `${busiest.name} computes longest, ${percentText(busy(busiest) / all)} of the step; ${fullest.name} needs the most memory, ${bytesText(fullest.memory.needed_bytes ?? 0)}`;
  const kinds = stepParts(metrics);
  const seconds = (one: Program, kind: number): number => stepParts(one)[kind]!.seconds;
  const drawn = kinds.map((part, kind) => ({ ...part, kind })).filter(({ kind }) => programs.some((one) => seconds(one, kind) > 0));
  const chart = draw({
    label: `${title}.`,
    height: () => programs.length * 26 + 40,
    stops: () => drawn.flatMap((_, seriesIndex) => programs.map((_stage, dataIndex) => ({ seriesIndex, dataIndex }))),
    table: {
      count: programs.length,
      make: () => ({
        caption: 'Stages',
        columns: [{ name: 'stage' }, { name: 'ranks', number: true }, ...kinds.map(({ name }) => ({ name, number: true })), { name: 'memory', number: true }],
        rows: programs.map((one) => [
          cell(one.name),
          cell(String(one.ranks), one.ranks),
          ...stepParts(one).map((part) => cell(timeText(part.seconds), part.seconds)),
          cell(bytesText(one.memory.needed_bytes ?? 0), one.memory.needed_bytes),
        ]),
      }),
    },
    option: (colours, width) => ({
      grid: { left: width < 560 ? 66 : 84, right: 18, top: 4, bottom: 26 },
      xAxis: timeAxis(all, width, colours, true),
      yAxis: { type: 'category', inverse: true, data: programs.map(({ name }) => name), axisLine: { lineStyle: { color: colours.line } }, axisTick: { show: false }, axisLabel: { color: colours.text, fontSize: 12 } },
      series: drawn.map(({ id, name, kind }) => ({
        type: 'bar' as const,
        name,
        stack: 'all',
        barWidth: '66%',
        data: programs.map((one) => seconds(one, kind)),
        itemStyle: { color: colours.part[id]!, borderColor: colours.background, borderWidth: 1, decal: stripes(id, colours) },
        emphasis: { focus: 'none' as const, itemStyle: { borderColor: colours.text, borderWidth: 2 } },
        tooltip: {
          formatter: (item: unknown) => {
            const one = programs[(item as { dataIndex: number }).dataIndex]!;
            return tip(`${one.name}: ${name}`, [
              ['time', timeText(seconds(one, kind)), seconds(one, kind)],
              ['of the step', percentText(seconds(one, kind) / all)],
            ]);
          },
        },
      })),
    }),
  });
  return section('stages', 'Pipeline stages', title, partsLegend(drawn), chart.element);
}
