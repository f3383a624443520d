// SPDX-License-Identifier: Apache-2.0
// The bottleneck of a job and what would help: each what-if as a bar, largest gain first.
import { timeAxis } from './axes';
import { draw, section, type Option } from './chart';
import type { Counterfactual, ExplainDocument } from './document';
import { h, tip } from './dom';
import { counted, percentText, shareText, timeText } from './format';
import { basis, misfit, title, warnings, what } from './header';
import { arrows } from './names';
import { bottleneck, runAnswer } from './run/page';
import { step } from './run/step';
import { coded } from './summary';
import { cell, tableOf, type Table } from './table';
import type { Palette } from './theme';
import { shellWord } from './what_if/changes';

function option(all: Counterfactual[], now: number, colours: Palette, width: number): Option {
  return {
    grid: { left: 8, right: width < 560 ? 64 : 84, top: 18, bottom: 28 },
    xAxis: timeAxis(now, width, colours, true),
    yAxis: { type: 'category', inverse: true, data: all.map((one) => one.words), axisLine: { lineStyle: { color: colours.line } }, axisTick: { show: false }, axisLabel: { show: false } },
    series: [
      {
        type: 'bar',
        barWidth: '36%',
        data: all.map((one) => ({ value: one.step_time_s, itemStyle: { color: one.bound ? colours.other : colours.series[0]! } })),
        label: { show: true, position: 'right', color: colours.text, fontSize: 12.5, formatter: (item: { dataIndex: number }) => `−${shareText(all[item.dataIndex]!.gain)}` },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const one = all[item.dataIndex]!;
            return tip(one.words, [['step time', timeText(one.step_time_s), one.step_time_s], ['shorter by', percentText(one.gain), one.gain]], one.bound ? 'a bound, not a simulation' : '');
          },
        },
      },
      {
        // Each name is above its bar.
        type: 'bar',
        barGap: '-100%',
        barWidth: '36%',
        silent: true,
        data: all.map(() => 0),
        label: { show: true, position: [0, -17], color: colours.text, fontSize: 13, width: width - 90, overflow: 'truncate', formatter: (item: { dataIndex: number }) => all[item.dataIndex]!.words },
      },
    ],
  } as Option;
}

const helpTable = (all: Counterfactual[]): Table => ({
  caption: 'What would help',
  columns: [{ name: 'change' }, { name: 'step time', number: true }, { name: 'shorter by', number: true }, { name: 'as --set' }],
  rows: all.map((one) => [
    cell(one.words, undefined, one.bound ? 'bound' : undefined),
    cell(timeText(one.step_time_s), one.step_time_s),
    cell(percentText(one.gain), one.gain),
    cell(Object.entries(one.set).map(([key, value]) => `--set ${shellWord(`${key}=${value}`)}`).join(' ')),
  ]),
});

function help({ report, explain: { counterfactuals: all, no_help: rest } }: ExplainDocument): HTMLElement {
  const now = report.metrics.step_time_s;
  const none = rest.length > 0 && h('p', { class: 'lead' }, `Less than 1 % gain each: ${rest.map((one) => one.words).join('; ')}.`);
  const best = all[0];
  if (!best) return section('help', 'What would help', 'None of the changes would help', none);
  const name = `${best.words}: ${shareText(best.gain)} less`;
  const chart = draw({
    label: `${name}. ${all.map((one) => `${one.words} ${timeText(one.step_time_s)}`).join(', ')}.`,
    height: () => all.length * 48 + 48,
    stops: () => all.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: all.length, make: () => helpTable(all) },
    option: (colours, width) => option(all, now, colours, width),
  });
  return section('help', 'What would help', name, h('p', { class: 'lead' }, `The full width is the current step, ${timeText(now)}. A grey bar is a bound that no system reaches.`), chart.element, none);
}

function commands({ commands: lines }: ExplainDocument): HTMLElement | null {
  return lines.length === 0 ? null : section('try', 'Commands to try', counted(lines.length, 'command'), h('pre', { class: 'code', tabindex: 0 }, lines.join('\n')));
}

export function explainPage(data: ExplainDocument): HTMLElement[] {
  const { report, explain } = data;
  const { model, hardware, strategy } = data.headline;
  const parts = [
    report.does_not_fit ? misfit(report.does_not_fit) : null,
    title(data.title, what([model, hardware, strategy], data)),
    runAnswer(report),
    bottleneck(report),
    warnings(coded(explain)),
    help(data),
    step(report),
    explain.exposed.length > 0
      ? section('exposed', 'Exposed communication', counted(explain.exposed.length, 'call') + ' that no kernel overlaps', tableOf({
          caption: 'Exposed communication',
          columns: [{ name: 'call' }, { name: 'calls', number: true }, { name: 'exposed', number: true }, { name: 'why' }],
          rows: explain.exposed.map((one) => [cell(one.name), cell(String(one.calls), one.calls), cell(timeText(one.exposed_s), one.exposed_s), cell(one.why)]),
        }))
      : null,
    section('evidence', 'Evidence', 'Evidence for the bottleneck', h('ul', {}, ...explain.evidence.map((text) => h('li', {}, arrows(text))))),
    commands(data),
    basis(explain.basis),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
