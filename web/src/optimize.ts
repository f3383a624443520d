// SPDX-License-Identifier: Apache-2.0
// The best settings of a strategy, or the best layouts of a large model.
import type { LayoutsDocument, OptimizeDocument, Range, TriedLayout, TriedSetting } from './document';
import { timeAxis, valueAxis } from './axes';
import { draw, section, type Option } from './chart';
import { h, tip } from './dom';
import { bytesText, countText, counted, known, numberText, percentText, rangeText, shareText, timeText, usdText } from './format';
import { answer, basis, tiles, title, warnings, what, type Tile } from './header';
import { coded } from './summary';
import { cell, tableOf, type Table } from './table';
import { spanOf, whiskers } from './whiskers';
import type { Palette } from './theme';

/** "bucket_cap 33 MiB, static_graph": a setting without the keys that are off. */
function settingText(set: Record<string, unknown>): string {
  const flat = Object.entries(set).flatMap(([key, value]): [string, unknown][] =>
    value && typeof value === 'object' ? Object.entries(value as Record<string, unknown>) : [[key, value]],
  );
  return flat.filter(([key, value]) => key !== 'kind' && value !== false && value !== 'none').map(([key, value]) => (value === true ? key : `${key} ${String(value)}`)).join(', ');
}

const code = (name: string, text: string): HTMLElement => section('code', 'Settings to paste', name, h('pre', { class: 'code', tabindex: 0 }, text.trim()));

interface Row {
  name: string;
  tried: TriedSetting;
}

function settingBars(rows: Row[], colours: Palette, width: number): Option {
  const longest = Math.max(...rows.flatMap(({ tried }) => [tried.step_time_s, tried.interval[1]]));
  return {
    grid: { left: width < 560 ? 96 : 130, right: 76, top: 4, bottom: 28 },
    xAxis: timeAxis(longest, width, colours),
    yAxis: { type: 'category', inverse: true, data: rows.map(({ name }) => name), axisLine: { lineStyle: { color: colours.line } }, axisTick: { show: false }, axisLabel: { color: colours.text, fontSize: 13 } },
    series: [
      {
        type: 'bar',
        barWidth: '54%',
        data: rows.map(({ tried }) => tried.step_time_s),
        itemStyle: { color: colours.series[0]! },
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 1.5 } },
        tooltip: { formatter: (item: { dataIndex: number }) => settingTip(rows[item.dataIndex]!) },
      },
      whiskers(rows.map(({ tried }, i) => ({ at: [tried.step_time_s, i], x: tried.interval, colour: colours.text }))),
    ],
  } as Option;
}

const settingTip = ({ name, tried }: Row): string =>
  tip(name, [['step time', timeText(tried.step_time_s), tried.step_time_s], ['90 % interval', rangeText(tried.interval)], ['memory', bytesText(tried.memory_needed_bytes), tried.memory_needed_bytes]], settingText(tried.set));

const settingTable = (rows: Row[]): Table => ({
  caption: 'Settings',
  columns: [{ name: '' }, { name: 'step time', number: true }, { name: '90 % interval', number: true }, { name: 'samples/s', number: true }, { name: 'exposed', number: true }, { name: 'memory', number: true }, { name: 'settings' }],
  rows: rows.map(({ name, tried }) => [
    cell(name),
    cell(timeText(tried.step_time_s), tried.step_time_s),
    cell(rangeText(tried.interval), tried.interval[0]),
    cell(numberText(tried.samples_per_s), tried.samples_per_s),
    cell(timeText(tried.exposed_communication_s), tried.exposed_communication_s),
    cell(bytesText(tried.memory_needed_bytes), tried.memory_needed_bytes),
    cell(settingText(tried.set)),
  ]),
});

/** Step time over DDP's bucket size. */
function bucketCaps(caps: NonNullable<OptimizeDocument['optimize']['bucket_caps']>): HTMLElement {
  const { points } = caps;
  const name = `From ${caps.from_mib} to ${caps.to_mib} MiB the step time is within ${percentText(caps.within)} of the shortest`;
  const mib = (x: number): string => `${numberText(x)} MiB`;
  const chart = draw({
    label: `${name}. Step time over bucket size.`,
    height: () => 280,
    stops: () => points.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: {
      count: points.length,
      make: () => ({ caption: 'Bucket sizes', columns: [{ name: 'bucket_cap', number: true }, { name: 'step time', number: true }], rows: points.map((one) => [cell(mib(one.bucket_cap_mib), one.bucket_cap_mib), cell(timeText(one.step_time_s), one.step_time_s)]) }),
    },
    option: (colours) =>
      ({
        grid: { left: 70, right: 24, top: 30, bottom: 48 },
        xAxis: valueAxis({ span: spanOf(points.map((one) => one.bucket_cap_mib), []), text: mib, name: 'bucket_cap', colours }),
        yAxis: valueAxis({ span: [0, Math.max(...points.map((one) => one.step_time_s))], text: timeText, seconds: 1, name: 'step time', colours, vertical: true }),
        series: [
          {
            type: 'line',
            data: points.map((one) => [one.bucket_cap_mib, one.step_time_s]),
            symbolSize: 6,
            lineStyle: { width: 2, color: colours.series[0]! },
            itemStyle: { color: colours.series[0]! },
            tooltip: { formatter: (item: { dataIndex: number }) => tip(mib(points[item.dataIndex]!.bucket_cap_mib), [['step time', timeText(points[item.dataIndex]!.step_time_s), points[item.dataIndex]!.step_time_s]]) },
          },
        ],
      }) as Option,
  });
  return section('caps', 'Bucket size', name, chart.element);
}

const snippets: Record<string, string> = { pytorch: 'PyTorch', deepspeed: 'DeepSpeed', megatron: 'Megatron-LM', torchtitan: 'torchtitan' };

/** The code of a document, by the name of its framework. */
function snippetOf(document: Record<string, unknown>): HTMLElement | null {
  const key = Object.keys(snippets).find((one) => typeof document[one] === 'string');
  return key ? code(`For ${snippets[key]!}`, document[key] as string) : null;
}

export function optimizePage(data: OptimizeDocument): HTMLElement[] {
  const found = data.optimize;
  const rows = ([['best', found.best], ['fastest', found.fastest], ['defaults', found.defaults], ['as written', found.as_written]] as [string, TriedSetting | null][]).flatMap(([name, tried]): Row[] => (tried ? [{ name, tried }] : []));
  const gain = found.as_written ? found.as_written.step_time_s / found.best.step_time_s - 1 : 0;
  const chart = draw({
    label: `Step times of ${rows.map(({ name, tried }) => `${name} ${timeText(tried.step_time_s)}`).join(', ')}.`,
    height: () => rows.length * 36 + 40,
    stops: () => rows.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: rows.length, make: () => settingTable(rows) },
    option: (colours, width) => settingBars(rows, colours, width),
  });
  const parts = [
    title(data.title, what([data.job, `${counted(found.settings, 'setting')}, ${counted(found.simulated, 'step')} simulated`], data)),
    answer(`${settingText(found.best.set) || 'The defaults'}: ${timeText(found.best.step_time_s)} per step (90 % interval: ${rangeText(found.best.interval)}). ${found.verdict.charAt(0).toUpperCase()}${found.verdict.slice(1)}.`),
    warnings(coded(found)),
    section('settings', 'Settings', gain > 5e-4 ? `The best setting is ${shareText(gain)} faster than the scenario as written` : 'The scenario as written is as fast as the best setting', chart.element),
    found.bucket_caps && found.bucket_caps.points.length > 1 ? bucketCaps(found.bucket_caps) : null,
    snippetOf(found),
    basis(found.basis),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}

const layoutText = ({ set }: TriedLayout): string =>
  [set.parallel?.replace(/[{}]/g, '') ?? 'data parallel', set['job.batch_per_gpu'] && `micro-batch ${set['job.batch_per_gpu']}`, set['job.accumulate'] && `x ${set['job.accumulate']}`, set['job.recompute'] && set['job.recompute'] !== 'none' && `recompute ${set['job.recompute']}`].filter(Boolean).join(', ');

function layoutScatter(all: TriedLayout[], colours: Palette): Option {
  const colour = (one: TriedLayout): string => (one.on_front ? colours.series[1]! : one.tied_with_fastest ? colours.series[0]! : colours.other);
  return {
    grid: { left: 72, right: 24, top: 34, bottom: 50 },
    xAxis: valueAxis({ span: [0, Math.max(...all.map((one) => one.memory_needed_bytes))], text: bytesText, name: 'memory per GPU', colours }),
    yAxis: valueAxis({ span: [0, Math.max(...all.map((one) => one.step_time_s))], seconds: 1, text: timeText, name: 'step time', colours, vertical: true }),
    series: [
      {
        type: 'scatter',
        symbolSize: 10,
        data: all.map((one) => ({ value: [one.memory_needed_bytes, one.step_time_s], itemStyle: { color: colour(one), borderColor: colours.background, borderWidth: 1 } })),
        emphasis: { itemStyle: { borderColor: colours.text, borderWidth: 2 } },
        tooltip: {
          formatter: (item: { dataIndex: number }) => {
            const one = all[item.dataIndex]!;
            return tip(layoutText(one), [['step time', timeText(one.step_time_s), one.step_time_s], ['90 % interval', rangeText(one.interval)], ['memory', bytesText(one.memory_needed_bytes), one.memory_needed_bytes]]);
          },
        },
      },
    ],
  } as Option;
}

const layoutTable = (all: TriedLayout[]): Table => ({
  caption: 'Layouts',
  columns: [{ name: 'layout' }, { name: 'step time', number: true }, { name: '90 % interval', number: true }, { name: 'tokens/s per GPU', number: true }, { name: 'MFU', number: true }, { name: 'memory', number: true }, { name: 'cost of a million samples', number: true }],
  rows: all.map((one) => [
    cell(layoutText(one), undefined, one.tied_with_fastest ? 'tied' : undefined),
    cell(timeText(one.step_time_s), one.step_time_s),
    cell(rangeText(one.interval as Range), one.interval[0]),
    cell(numberText(one.tokens_per_s_per_gpu), one.tokens_per_s_per_gpu ?? null),
    cell(percentText(one.mfu), one.mfu ?? null),
    cell(bytesText(one.memory_needed_bytes), one.memory_needed_bytes),
    cell(usdText(one.cost_usd_per_million_samples), one.cost_usd_per_million_samples ?? null),
  ]),
});

export function layoutsPage(data: LayoutsDocument): HTMLElement[] {
  const found = data.layouts;
  const [best] = found.layouts;
  if (!best) return [title(data.title, 'no layout was found')];
  const tied = found.layouts.filter((one) => one.tied_with_fastest).length;
  const tile = (name: string, text: string, exact: unknown, note: string): Tile => ({ name, text, exact, notes: [note] });
  const name = `${counted(found.layouts.length, 'layout')}: layouts with less memory are to the left, faster ones below`;
  const chart = draw({
    label: `${name}.`,
    height: (width) => (width < 560 ? 340 : 400),
    stops: () => found.layouts.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex })),
    table: { count: found.layouts.length, make: () => layoutTable(found.layouts) },
    option: (colours) => layoutScatter(found.layouts, colours),
  });
  const parts = [
    title(data.title, what([`${counted(found.global_batch, 'sample')} per step`, `${counted(found.candidates, 'candidate')}, of which ${countText(found.do_not_fit)} do not fit`], data)),
    answer(`${layoutText(best)}: ${timeText(best.step_time_s)} per step (90 % interval: ${rangeText(best.interval)})${tied > 1 ? `, tied with ${counted(tied - 1, 'other')}` : ''}.`),
    tiles([
      known(best.tokens_per_s_per_gpu) && tile('Throughput', `${numberText(best.tokens_per_s_per_gpu)} tokens/s`, best.tokens_per_s_per_gpu, 'per GPU'),
      known(best.mfu) && tile('MFU', percentText(best.mfu), best.mfu, 'of the peak'),
      tile('Memory per GPU', bytesText(best.memory_needed_bytes), best.memory_needed_bytes, 'required'),
      known(best.cost_usd_per_million_samples) && tile('Cost', usdText(best.cost_usd_per_million_samples), best.cost_usd_per_million_samples, 'per million samples'),
    ]),
    warnings(coded(found)),
    section('layouts', 'Layouts', name, chart.element),
    section('table', 'Table', counted(found.layouts.length, 'layout'), tableOf(layoutTable(found.layouts))),
    snippetOf(found),
    basis(found.basis),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
