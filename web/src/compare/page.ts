// SPDX-License-Identifier: Apache-2.0
// Comparison of platforms: cost against time, parts of the steps, a table.
import { section } from '../chart';
import type { ComparedRun, CompareDocument, Tie } from '../document';
import { h } from '../dom';
import { countText, counted, known, numberText, rangeText, timeText, usdText } from '../format';
import { answer, basis, tieText, tiles, title, warnings, what, type Tile } from '../header';
import { gathered } from '../summary';
import { tableOf } from '../table';
import { stepBars } from './bars';
import { fullName } from './choice';
import { costAgainstTime } from './scatter';
import { compareTable } from './table';

const meaning: Record<string, string> = {
  measured: 'measured on this GPU model, with such collectives',
  anchored: "a step on such a GPU was measured, collectives go by NCCL's own rates",
  kernels: 'the kernels were timed on this GPU model, but no step of the model was measured',
  moved: 'a step or its kernels were measured on another GPU model and extrapolated by both datasheets',
  datasheet: 'the largest parts of the step were not measured',
};

/** A note if the runs differ in their class of provenance. */
function evidence(runs: ComparedRun[]): HTMLElement {
  const kinds = Object.keys(meaning).filter((kind) => runs.some((run) => run.provenance === kind));
  const platforms = (kind: string): string => [...new Set(runs.filter((run) => run.provenance === kind).map((run) => run.scenario.platform))].join(', ');
  return h(
    'details',
    { class: 'box', id: 'evidence', 'data-print': true },
    h('summary', {}, 'These predictions differ in provenance'),
    h('ul', {}, ...kinds.map((kind) => h('li', {}, h('b', {}, `${kind}: `), `${platforms(kind)} (${meaning[kind]})`))),
  );
}

/** The runs that are tied for the first place, or the winner. */
interface First {
  run: ComparedRun;
  others: number;
}

function firstOf(runs: ComparedRun[], index: number | null | undefined, tied: Tie | null | undefined): First | undefined {
  const first = tied ? tied.runs[0] : index;
  const run = typeof first === 'number' ? runs[first] : undefined;
  return run && { run, others: tied ? tied.runs.length - 1 : 0 };
}

/** "tied with 5 others, up to 49.4 % apart" */
const tiedWith = ({ others }: First): string => (others > 0 ? `, tied with ${counted(others, 'other')}` : '');

/** The cheapest and the fastest choice with their figures. */
function compareAnswer(cheapest: First | undefined, fastest: First | undefined): string {
  const cost = (run: ComparedRun): string => {
    const whole = run.costs.run_usd;
    return known(whole) ? `${usdText(whole)} for the whole training` : `${usdText(run.metrics.cost_usd_per_million_samples)} per million samples`;
  };
  const range = (run: ComparedRun): string => {
    const [low, high] = run.interval[known(run.costs.run_usd) ? 'run_usd' : 'usd_per_million_samples'] ?? [];
    return known(low) && known(high) ? ` (90 % interval: ${rangeText([low, high], usdText)})` : '';
  };
  return [
    cheapest && `${fullName(cheapest.run)} cost least: ${cost(cheapest.run)}${range(cheapest.run)}${tiedWith(cheapest)}.`,
    fastest && `${fullName(fastest.run)} are the fastest: ${timeText(fastest.run.metrics.step_time_s)} per step${tiedWith(fastest)}.`,
  ].filter(Boolean).join(' ');
}

const names = (tied: Tie, runs: ComparedRun[]): string =>
  tied.runs.length <= 3 ? tied.runs.map((index) => fullName(runs[index]!)).join('; ') : `${fullName(runs[tied.runs[0]!]!)} first; all are marked in the table`;

export function comparePage(data: CompareDocument): HTMLElement[] {
  const { runs, left_out: leftOut, samples, tokens, tied } = data.compare;
  const tieTile = (name: string, one: Tie | null | undefined): Tile | null | undefined =>
    one && { name, text: `${one.runs.length} tied`, exact: one.runs.length, notes: [names(one, runs), tieText(one)] };
  const fastest = runs.find((run) => run.costs.fastest);
  const cheapest = runs.find((run) => run.costs.cheapest);
  const prices = [...new Set(runs.flatMap((run) => (run.price ? [`${run.scenario.platform}: ${usdText(run.price.usd_per_node_hour)} per node-hour, ${run.price.terms === 'on_demand' ? '' : `${run.price.terms}, `}${run.price.region}, ${run.price.date} (${run.price.source})`] : [])))];
  const done = [data.job, tokens ? `training on ${countText(tokens)} tokens` : samples ? `training on ${countText(samples)} samples` : ''];
  const parts = [
    title(data.title, what(done, data)),
    runs.length > 0 ? answer(compareAnswer(firstOf(runs, data.compare.cheapest, tied?.cheapest), firstOf(runs, data.compare.fastest, tied?.fastest))) : null,
    tiles([
      fastest && { name: 'Fastest', text: `${numberText(fastest.metrics.samples_per_s)} samples/s`, exact: fastest.metrics.samples_per_s, notes: [`${fullName(fastest)}: ${timeText(fastest.metrics.step_time_s)} per step`] },
      cheapest && {
        name: 'Cheapest, per million samples',
        text: usdText(cheapest.metrics.cost_usd_per_million_samples),
        exact: cheapest.metrics.cost_usd_per_million_samples,
        notes: [fullName(cheapest)],
      },
      tieTile('Fastest', tied?.fastest),
      tieTile('Cheapest, per million samples', tied?.cheapest),
      { name: 'Compared', text: String(runs.length), exact: runs.length, notes: [leftOut.length > 0 ? `${leftOut.length} left out` : 'none left out'] },
    ]),
    runs.length > 0 ? costAgainstTime(runs) : null,
    runs.length > 0 ? stepBars(runs, tied?.shortest_step) : null,
    section('runs', 'Table', `${counted(runs.length, 'choice')}, sorted by a click on a heading`, tableOf(compareTable(runs))),
    data.compare.mixed_evidence ? evidence(runs) : null,
    warnings(gathered(runs, 'warnings')),
    leftOut.length > 0
      ? h(
          'details',
          { class: 'box', id: 'left-out', 'data-print': true },
          h('summary', {}, `${counted(leftOut.length, 'choice')} left out`),
          h('ul', {}, ...leftOut.map((one) => h('li', {}, h('b', {}, `${one.platform}, ${one.gpus} GPUs`), `: ${one.reason}`))),
        )
      : null,
    basis([...prices, ...gathered(runs, 'basis')], 'Provenance and prices'),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
