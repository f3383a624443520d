// SPDX-License-Identifier: Apache-2.0
// The run of the report and the changed run side by side: figures and the parts of the step.
import { timeAxis } from '../axes';
import { draw } from '../chart';
import type { Report } from '../document';
import { h, tip, value, type Child } from '../dom';
import { bytesText, digits, known, nothing, numberText, percentText, rangeText, signedPercentText, timeText, usdText } from '../format';
import { arrows } from '../names';
import { stripes } from '../patterns';
import { partsLegend, stepParts } from '../run/step';

interface Figure {
  name: string;
  of: (report: Report) => number | null | undefined;
  text: (value: number | null | undefined) => string;
}

const figures: Figure[] = [
  { name: 'Step time', of: ({ metrics }) => metrics.step_time_s, text: timeText },
  { name: 'Throughput, samples/s', of: ({ metrics }) => metrics.samples_per_s, text: numberText },
  { name: 'Tokens/s per GPU', of: ({ metrics }) => metrics.tokens_per_s_per_gpu, text: numberText },
  { name: 'Exposed communication', of: ({ metrics }) => metrics.exposed_communication_s, text: timeText },
  { name: 'GPU busy', of: ({ metrics }) => metrics.gpu_busy_fraction, text: percentText },
  { name: 'Memory per GPU', of: ({ memory, metrics }) => memory.needed_bytes ?? metrics.peak_memory_bytes, text: bytesText },
  { name: 'Cost per hour', of: ({ metrics }) => metrics.cost_usd_per_hour, text: usdText },
  { name: 'Cost per million samples', of: ({ metrics }) => metrics.cost_usd_per_million_samples, text: usdText },
];

interface Words {
  name: string;
  of: (report: Report) => string;
}

const words: Words[] = [
  { name: '90 % interval of the step', of: ({ interval }) => rangeText(interval.step_time_s) },
  { name: 'Memory', of: ({ fits, does_not_fit: why, memory_verdict: verdict }) => why ?? verdict ?? (fits === false ? 'does not fit' : 'activations are unknown') },
  { name: 'Bottleneck', of: ({ bottleneck }) => arrows(bottleneck.resource) },
];

export function difference(before: unknown, after: unknown): string {
  if (before === after) return 'none';
  if (!known(before) || !known(after) || before === 0) return nothing;
  return after / before < 10 ? signedPercentText(after / before - 1) : `${digits(after / before)} times`;
}

/** What does not fit has no price. */
const priced = (report: Report, { text, of }: Figure): number | null | undefined => (text === usdText && report.fits === false ? null : of(report));

const cell = (...children: Child[]): HTMLElement => h('td', {}, ...children);

/** Figures of both runs; first the memory, if one does not fit. */
export function sides(before: Report, after: Report): HTMLElement {
  const shown = figures.filter(({ of }) => known(of(before)) || known(of(after)));
  const isMemory = ({ name }: { name: string }): boolean => name === 'Memory' && [before, after].some(({ fits }) => fits === false);
  const row = (name: string, ...cells: HTMLElement[]): HTMLElement => h('tr', { 'data-figure': name }, h('th', { scope: 'row' }, name), ...cells);
  const inWords = ({ name, of }: Words): HTMLElement => row(name, cell(of(before)), h('td', { colspan: 2 }, of(after)));
  const inFigures = (figure: Figure): HTMLElement => {
    const [one, other] = [priced(before, figure), priced(after, figure)];
    return row(figure.name, cell(value(figure.text(one), one)), cell(value(figure.text(other), other)), cell(difference(one, other)));
  };
  return h(
    'table',
    { class: 'sides' },
    h('caption', { class: 'hidden' }, 'The run of this report and the changed run'),
    h('thead', {}, h('tr', {}, h('td', {}), ...['Report', 'Changed', 'Difference'].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, ...words.filter(isMemory).map(inWords), ...shown.map(inFigures), ...words.filter((one) => !isMemory(one)).map(inWords)),
  );
}

/** The parts of both steps on one scale; `redraw` after either has changed. */
export function bars(before: Report, after: () => Report): { element: HTMLElement; redraw: () => void } {
  const both = (): Report[] => [before, after()];
  const longest = (): number => Math.max(...both().map(({ metrics }) => metrics.step_time_s));
  const names = ['report', 'changed'];
  const drawn = draw({
    label: 'The parts of the step in this report and after the changes; the table has the times.',
    height: () => 130,
    stops: () => stepParts(before.metrics).flatMap((_, seriesIndex) => [0, 1].map((dataIndex) => ({ seriesIndex, dataIndex }))),
    option: (colours, width) => ({
      grid: { left: width < 560 ? 8 : 110, right: 18, top: 4, bottom: 26 },
      tooltip: { trigger: 'item' },
      xAxis: timeAxis(longest(), width, colours, true),
      yAxis: { type: 'category', inverse: true, data: names, axisTick: { show: false }, axisLine: { lineStyle: { color: colours.line } }, axisLabel: { show: width >= 560, color: colours.text, fontSize: 13 } },
      series: stepParts(before.metrics).map(({ id, name }, part) => ({
        type: 'bar' as const,
        name,
        stack: 'all',
        barWidth: '62%',
        data: both().map(({ metrics }) => stepParts(metrics)[part]!.seconds),
        itemStyle: { color: colours.part[id]!, borderColor: colours.background, borderWidth: 1, decal: stripes(id, colours) },
        tooltip: {
          formatter: () => tip(name, both().map(({ metrics }, i) => [names[i]!, timeText(stepParts(metrics)[part]!.seconds), stepParts(metrics)[part]!.seconds])),
        },
      })),
    }),
  });
  return { element: h('div', {}, partsLegend(stepParts(before.metrics)), drawn.element), redraw: drawn.redraw };
}
