// SPDX-License-Identifier: Apache-2.0
// Platforms side by side: cost against time, what the steps are made of, a table.
import { section } from '../chart';
import type { ComparedRun, CompareDocument, Tie } from '../document';
import { h } from '../dom';
import { countText, counted, numberText, timeText, usdText } from '../format';
import { basis, tieText, tiles, title, warnings, type Tile } from '../header';
import { gathered } from '../summary';
import { tableOf } from '../table';
import { stepBars } from './bars';
import { fullName } from './choice';
import { costAgainstTime } from './scatter';
import { compareTable } from './table';

const meaning: Record<string, string> = {
  measured: 'such GPUs and such collectives were measured',
  anchored: "a step on such a GPU was measured, collectives go by NCCL's own rates",
  kernels: 'no step of this model was measured on such a GPU, but each of its kernels was timed there',
  moved: 'a step, or its kernels, were measured on another GPU and moved here by the datasheets of both',
  datasheet: 'nothing that the step is mostly made of was measured',
};

/** What is compared rests on evidence of different kinds. */
function evidence(runs: ComparedRun[]): HTMLElement {
  const kinds = Object.keys(meaning).filter((kind) => runs.some((run) => run.rests_on === kind));
  const platforms = (kind: string): string => [...new Set(runs.filter((run) => run.rests_on === kind).map((run) => run.scenario.platform))].join(', ');
  return h(
    'div',
    { class: 'box warnings', id: 'evidence', role: 'note' },
    h('h2', {}, 'These do not rest on the same evidence'),
    h('ul', {}, ...kinds.map((kind) => h('li', {}, h('b', {}, `${kind}: ${platforms(kind)}`), ` (${meaning[kind]})`))),
  );
}

export function comparePage(data: CompareDocument): HTMLElement[] {
  const { runs, left_out: leftOut, samples, tokens, tied } = data.compare;
  const tieTile = (name: string, one: Tie | null | undefined): Tile | null | undefined =>
    one && { name, text: `${one.runs.length} tied`, exact: one.runs.length, notes: [one.runs.map((index) => fullName(runs[index]!)).join('; '), tieText(one)] };
  const fastest = runs.find((run) => run.costs.fastest);
  const cheapest = runs.find((run) => run.costs.cheapest);
  const prices = [...new Set(runs.flatMap((run) => (run.price ? [`${run.scenario.platform}: ${usdText(run.price.usd_per_node_hour)} an hour and node, ${run.price.region}, ${run.price.date} (${run.price.source})`] : [])))];
  const what = [data.job, tokens ? `a run over ${countText(tokens)} tokens` : samples ? `a run over ${countText(samples)} samples` : ''];
  const parts = [
    title(data.title, what.filter(Boolean).join(' · ')),
    tiles([
      fastest && { name: 'Fastest', text: `${numberText(fastest.metrics.samples_per_s)} samples/s`, exact: fastest.metrics.samples_per_s, notes: [`${fullName(fastest)}: ${timeText(fastest.metrics.step_time_s)} a step`] },
      cheapest && {
        name: 'Cheapest, a million samples',
        text: usdText(cheapest.metrics.cost_usd_per_million_samples),
        exact: cheapest.metrics.cost_usd_per_million_samples,
        notes: [fullName(cheapest)],
      },
      tieTile('Fastest', tied?.fastest),
      tieTile('Cheapest, a million samples', tied?.cheapest),
      { name: 'Compared', text: String(runs.length), exact: runs.length, notes: [leftOut.length > 0 ? `${leftOut.length} left out` : 'none left out'] },
    ]),
    data.compare.mixed_evidence ? evidence(runs) : null,
    warnings(gathered(runs, 'warnings')),
    leftOut.length > 0
      ? h(
          'div',
          { class: 'box', id: 'left-out' },
          h('strong', {}, `${counted(leftOut.length, 'choice')} left out`),
          h('ul', {}, ...leftOut.map((one) => h('li', {}, h('b', {}, `${one.platform}, ${one.gpus} GPUs`), `: ${one.reason}`))),
        )
      : null,
    basis([...gathered(runs, 'basis'), ...prices], false, 'What these rest on'),
    runs.length > 0 ? costAgainstTime(runs) : null,
    runs.length > 0 ? stepBars(runs, tied?.shortest_step) : null,
    section('runs', 'Table', `${counted(runs.length, 'choice')}, sorted by a click on a heading`, tableOf(compareTable(runs))),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
