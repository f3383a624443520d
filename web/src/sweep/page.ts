// SPDX-License-Identifier: Apache-2.0
// A sweep: its best points, a measure over the axes, all points.
import { section } from '../chart';
import type { Tie, SweepDocument, SweepPoint } from '../document';
import { h } from '../dom';
import { counted, numberText, timeText, usdText } from '../format';
import { basis, tieText, tiles, title, warnings, what, type Tile } from '../header';
import { gathered } from '../summary';
import { tableOf } from '../table';
import { sweepChart } from './chart';
import { withRuns } from './points';
import { initial, settings } from './state';
import { pointsTable } from './table';

/** Maximum number of listed reasons; the table has all. */
const mostReasons = 50;

/** A list of points with a reason each. */
function reasons(runs: SweepPoint[], item: (run: SweepPoint) => HTMLElement): HTMLElement {
  const more = runs.length - mostReasons;
  return h('ul', {}, ...runs.slice(0, mostReasons).map(item), more > 0 && h('li', {}, `and ${counted(more, 'point')} more in the table`));
}

/** "1, 2, 4"; of many values only the ends. */
const valuesText = (values: string[]): string => (values.length <= 16 ? values.join(', ') : `${values[0]} to ${values[values.length - 1]} (${values.length} values)`);

/** A model's name; for one that the scenario changes, that of the model it is based on. */
function modelText(model: string | Record<string, unknown> | undefined): string | undefined {
  if (model === undefined || typeof model === 'string') return model;
  return `${String(model.based_on)}, changed`;
}

export function sweepPage(data: SweepDocument): HTMLElement[] {
  const sweep = withRuns(data.sweep);
  const failed = sweep.runs.filter((run) => !run.metrics);
  const misfits = sweep.runs.filter((run) => run.does_not_fit);
  const tieTile = (name: string, tied: Tie | null | undefined): Tile | null | undefined =>
    tied && { name, text: `${tied.runs.length} tied`, exact: tied.runs.length, notes: [`${settings(sweep.runs[tied.runs[0]!]!)} first`, tieText(tied)] };
  const first = sweep.runs.find((run) => run.metrics);
  const fastest = typeof sweep.fastest === 'number' ? sweep.runs[sweep.fastest] : undefined;
  const cheapest = typeof sweep.cheapest === 'number' ? sweep.runs[sweep.cheapest] : undefined;
  const texts = gathered(sweep.runs, 'warnings');
  const state = initial(sweep);
  const axes = sweep.vary.map(({ key, values }) => `${key} over ${valuesText(values)}`).join('; ');
  const parts = [
    title(data.title, what([modelText(first?.scenario?.model), first?.scenario?.platform, axes], data)),
    tiles([
      fastest?.metrics && { name: 'Fastest', text: `${numberText(fastest.metrics.samples_per_s)} samples/s`, exact: fastest.metrics.samples_per_s, notes: [settings(fastest), `${timeText(fastest.metrics.step_time_s)} per step`] },
      cheapest?.metrics && {
        name: 'Cheapest, per million samples',
        text: usdText(cheapest.metrics.cost_usd_per_million_samples),
        exact: cheapest.metrics.cost_usd_per_million_samples,
        notes: [settings(cheapest)],
      },
      tieTile('Fastest', sweep.tied?.fastest),
      tieTile('Cheapest, per million samples', sweep.tied?.cheapest),
      { name: 'Points', text: String(sweep.runs.length), exact: sweep.runs.length, notes: [[failed.length > 0 && `${failed.length} failed`, misfits.length > 0 && `${misfits.length} do not fit`].filter(Boolean).join(', ') || 'all simulated'] },
    ]),
    warnings(texts),
    failed.length > 0
      ? h(
          'div',
          { class: 'box', id: 'failed' },
          h('strong', {}, `${counted(failed.length, 'point')} failed`),
          reasons(failed, (run) => h('li', {}, h('b', {}, settings(run)), h('div', { class: 'lines' }, (run.error ?? 'no reason is given').trim()))),
        )
      : null,
    misfits.length > 0
      ? h(
          'div',
          { class: 'box misfit', id: 'misfits' },
          h('strong', {}, misfits.length === sweep.runs.length ? 'No point fits' : `${counted(misfits.length, 'point')} ${misfits.length === 1 ? 'does' : 'do'} not fit`),
          reasons(misfits, (run) => h('li', {}, h('b', {}, settings(run)), `: ${run.does_not_fit}`)),
        )
      : null,
    state ? sweepChart(sweep, state) : null,
    section('points', 'Table', `${counted(sweep.runs.length, 'point')}, sorted by a click on a heading`, tableOf(pointsTable(sweep))),
    basis(gathered(sweep.runs, 'basis')),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
