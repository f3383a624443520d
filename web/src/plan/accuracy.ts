// SPDX-License-Identifier: Apache-2.0
// Predicted against measured: all rows of docs/ACCURACY.md with filters, and those that are closest to a cluster.
import { mountCharts, section } from '../chart';
import type { Case } from '../document';
import { choice, h } from '../dom';
import { counted, percentText, rangeText, signedPercentText, timeText } from '../format';
import { cell, tableOf, type Table } from '../table';
import { errors } from '../validate/errors';
import { predictedAgainstMeasured } from '../validate/scatter';

/** A case of a file of cases, and where its measurement comes from. */
export interface Row extends Case {
  file: string;
  source: string;
  model: string;
  parameters: number;
  gpu: string;
  gpus: number;
  strategy: string;
}

const table = (rows: Row[]): Table => ({
  caption: 'Predicted and measured steps',
  columns: [{ name: 'case' }, { name: 'GPU' }, { name: 'GPUs', number: true }, { name: 'model' }, { name: 'strategy' }, ...['measured', 'predicted', '90 % interval', 'error'].map((name) => ({ name, number: true })), { name: 'source' }],
  rows: rows.map((row) => [
    cell(row.name),
    cell(row.gpu),
    cell(String(row.gpus), row.gpus),
    cell(row.model),
    cell(row.strategy),
    cell(timeText(row.measured_s), row.measured_s),
    cell(timeText(row.predicted_s), row.predicted_s),
    cell(rangeText(row.interval_s), row.interval_s?.[0] ?? null),
    cell(signedPercentText(row.error), row.error, row.is_given ? 'anchor' : undefined),
    cell(row.file),
  ]),
});

/** "mean error 2.1 %, 44 of 45 in the 90 % interval" */
function summary(rows: Row[]): string {
  const own = rows.filter((row) => !row.is_given);
  if (own.length === 0) return 'No row that was predicted without its own measurement.';
  const mean = own.reduce((sum, { error }) => sum + Math.abs(error), 0) / own.length;
  const bias = own.reduce((sum, { error }) => sum + error, 0) / own.length;
  return `${counted(own.length, 'row')}: mean error ${percentText(mean)}, bias ${signedPercentText(bias)}, ${own.filter((row) => row.in_interval).length} measured within the 90 % interval.`;
}

/** The beginning of a text, for a list. */
const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

const filters: [key: 'gpu' | 'model' | 'strategy' | 'file', label: string][] = [['gpu', 'GPU'], ['model', 'Model'], ['strategy', 'Strategy'], ['file', 'Source']];

export function accuracy(rows: Row[]): HTMLElement {
  const chosen: Partial<Record<(typeof filters)[number][0], string>> = {};
  const status = h('p', { class: 'status', role: 'status' });
  const results = h('div', {});
  const source = h('p', { class: 'hint' });
  const sources = new Map(rows.map((row) => [row.file, row.source]));
  const controls = filters.map(([key, label]) => {
    const values = [...new Set(rows.map((row) => row[key]))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return choice(label, [['', 'all'], ...values.map((value): [string, string] => [value, key === 'file' ? `${value}: ${shortened(sources.get(value)!)}` : value])], '', (value) => {
      chosen[key] = value;
      show();
    });
  });
  function show(): void {
    const kept = rows.filter((row) => filters.every(([key]) => !chosen[key] || row[key] === chosen[key]));
    status.textContent = summary(kept);
    source.textContent = chosen.file ? `Measured: ${sources.get(chosen.file)}` : '';
    const counts = kept.filter((row) => !row.is_given);
    results.replaceChildren(...(counts.length > 0 ? [predictedAgainstMeasured(counts), errors(counts)] : []), tableOf(table(kept)));
    mountCharts();
  }
  const details = h('details', {}, h('summary', {}, `Show ${counted(rows.length, 'row')}, with filters`), h('div', { class: 'controls' }, ...controls), status, source, results);
  details.addEventListener('toggle', () => details.open && results.childElementCount === 0 && show());
  return section('accuracy', 'Accuracy', 'Predicted against measured, every row', details);
}

/** What a row is compared with. Unknown parts are not compared. */
export interface Planned {
  gpu: string | null;
  gpus: number;
  parameters: number | undefined;
  framework: string;
}

const isAlike = (strategy: string, framework: string): boolean => (framework === 'megatron' ? /^distributed_optimizer/ : /^(ddp|fsdp|hsdp)/).test(strategy);

/** How unlike a row is: one for twice the GPUs or the parameters, three for another GPU, one for another framework. */
function distance(row: Row, { gpu, gpus, parameters, framework }: Planned): number {
  const doublings = (a: number, b: number): number => Math.abs(Math.log2(a / b));
  const size = parameters && row.parameters > 0 ? doublings(row.parameters, parameters) : 0;
  return (row.gpu === gpu ? 0 : 3) + doublings(row.gpus, gpus) + size + (isAlike(row.strategy, framework) ? 0 : 1);
}

const mostClosest = 5;

/** The published rows closest to a cluster. */
export function closest(all: Row[], planned: Planned, name: string): HTMLElement | null {
  const published = all.filter((row) => !row.is_given && row.strategy !== 'collective' && /^(published|article)\//.test(row.file));
  if (published.length === 0) return null;
  const rows = published.map((row) => ({ row, far: distance(row, planned) })).sort((a, b) => a.far - b.far).slice(0, mostClosest).map(({ row }) => row);
  return section('how-true', 'How true', `The published steps closest to ${name} were predicted with errors of ${signedPercentText(Math.min(...rows.map(({ error }) => error)))} to ${signedPercentText(Math.max(...rows.map(({ error }) => error)))}`, tableOf(table(rows)));
}
