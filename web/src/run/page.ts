// SPDX-License-Identifier: Apache-2.0
// A run: headline numbers first, then where the time goes, use of links, and details.
import { mountCharts } from '../chart';
import type { Report, RunDocument, Training } from '../document';
import { h, value } from '../dom';
import * as text from '../format';
import { answer, basis, misfit, tiles, title, warnings, what, type Tile } from '../header';
import { arrows } from '../names';
import { coded } from '../summary';
import type { Source } from '../what_if/asker';
import { sourceInPage } from '../what_if/in_worker';
import { whatIf } from '../what_if/panel';
import { buckets } from './buckets';
import { links } from './links';
import { memory } from './memory';
import { memoryOverStep } from './memory_over_step';
import { pipeline } from './pipeline';
import { platform } from './platform';
import { stages } from './stages';
import { step } from './step';
import { timeline } from './timeline';
import { useOverTime } from './use';

function costTile({ metrics, fits }: Report): Tile {
  const { cost_usd_per_hour: hour, cost_usd_per_million_samples: million, idle_gpus: idle } = metrics;
  if (fits === false) return { name: 'Cost', text: text.nothing, exact: null, notes: ['the job does not fit'] };
  return {
    name: 'Cost',
    text: text.known(hour) ? `${text.digits(hour)} USD/h` : text.nothing,
    exact: hour,
    notes: [text.known(million) ? h('span', {}, value(text.usdText(million), million), ' per million samples') : 'the price is unknown', text.known(idle) && idle > 0 && `${text.counted(idle, 'GPU')} ${idle === 1 ? 'is' : 'are'} paid and idle`],
  };
}

const kept = { yes: 'met', may: 'may be met', no: 'not met' };

function trainingTile(training: Training): Tile {
  const { seconds, cost_usd: cost, deadline_met: inTime, budget_met: inBudget } = training;
  return {
    name: 'Training',
    text: text.spanText(seconds),
    exact: seconds,
    notes: [
      text.known(training.tokens) ? `${text.countText(training.tokens)} tokens` : `${text.countText(training.samples)} samples`,
      text.known(cost) && h('span', {}, value(text.usdText(cost), cost)),
      inTime && `deadline of ${text.spanText(training.deadline_s)} ${kept[inTime]}`,
      inBudget && `budget of ${text.usdText(training.budget_usd)} ${kept[inBudget]}`,
    ],
  };
}

function headline({ metrics, interval, memory, memory_verdict: verdict, scenario, fits, training }: Report): HTMLElement {
  const collective = scenario.strategy.kind === 'collective';
  const exposed = metrics.exposed_communication_s;
  return tiles([
    {
      name: fits === false ? 'Would take' : 'Step time',
      text: text.timeText(metrics.step_time_s),
      exact: metrics.step_time_s,
      notes: [`90 % interval: ${text.rangeText(interval.step_time_s)}`],
    },
    text.known(metrics.bus_bandwidth_bytes_per_s) && {
      name: 'Bus bandwidth',
      text: text.rateText(metrics.bus_bandwidth_bytes_per_s),
      exact: metrics.bus_bandwidth_bytes_per_s,
      notes: ['as defined by nccl-tests'],
    },
    !collective && {
      name: 'Throughput',
      text: `${text.numberText(metrics.samples_per_s)} samples/s`,
      exact: metrics.samples_per_s,
      notes: [
        text.known(metrics.tokens_per_s_per_gpu) && h('span', {}, value(`${text.numberText(metrics.tokens_per_s_per_gpu)} tokens/s per GPU`, metrics.tokens_per_s_per_gpu)),
        `${text.numberText(metrics.steps_per_s)} steps/s`,
      ],
    },
    !collective && {
      name: 'GPU busy',
      text: text.percentText(metrics.gpu_busy_fraction),
      exact: metrics.gpu_busy_fraction,
      notes: [`${text.numberText(metrics.tflops_per_gpu)} TFLOP/s each`, text.known(metrics.mfu) && h('span', {}, 'MFU ', value(text.percentText(metrics.mfu), metrics.mfu))],
    },
    {
      name: 'Exposed communication',
      text: text.timeText(exposed),
      exact: exposed,
      notes: [`${text.percentText(exposed / metrics.step_time_s)} of the step; ${text.bytesText(metrics.bytes_sent_per_gpu)} sent by each GPU`],
    },
    {
      name: 'Memory per GPU',
      text: text.bytesText(metrics.peak_memory_bytes),
      exact: metrics.peak_memory_bytes,
      notes: [verdict, text.known(memory.needed_bytes) ? `${text.bytesText(memory.needed_bytes)} with CUDA, NCCL and the allocator` : 'estimate'].filter(text.known),
    },
    costTile({ metrics, fits } as Report),
    training && trainingTile(training),
  ]);
}

/** Step time with its interval, throughput and cost; what does not fit has neither rate nor cost. */
export function runAnswer({ metrics, interval, fits, does_not_fit: why, scenario, training }: Report): HTMLElement {
  if (fits === false) return answer(`The job ${why ?? 'does not fit'}. A step would take ${text.timeText(metrics.step_time_s)}.`);
  const range = interval.step_time_s[0] < interval.step_time_s[1] ? ` (90 % prediction interval: ${text.rangeText(interval.step_time_s)})` : '';
  const gpus = scenario.job.gpus;
  const speed = text.known(metrics.tokens_per_s) ? `${text.countText(Math.round(metrics.tokens_per_s / gpus))} tokens/s per GPU` : '';
  const cost = text.known(metrics.cost_usd_per_million_samples) ? `${text.usdText(metrics.cost_usd_per_million_samples)} per million samples` : '';
  const whole = training ? `the whole training takes ${text.spanText(training.seconds)}${text.known(training.cost_usd) ? ` and costs ${text.usdText(training.cost_usd)}` : ''}` : '';
  return answer(`A step takes ${text.timeText(metrics.step_time_s)}${range}${[speed, cost, whole].filter(Boolean).map((part) => `; ${part}`).join('')}.`);
}

export const bottleneck = ({ bottleneck: { resource, why } }: Report): HTMLElement =>
  h('p', { class: 'box bottleneck', id: 'bottleneck' }, 'Bottleneck: ', h('b', {}, arrows(resource)), why ? `. ${text.sentence(arrows(why))}.` : '.');

/** The charts and all that follows them. */
function details(data: RunDocument): HTMLElement[] {
  const { report } = data;
  const parts = [
    step(report),
    stages(report),
    pipeline(data.pipeline, data.timeline.repeated, report),
    timeline(data.timeline),
    platform(data.platform),
    h('div', { class: 'pair' }, links(report.links, report.links_left_out ?? 0), useOverTime(data.use, data.timeline)),
    buckets(data.buckets, data.timeline),
    memory(report),
    memoryOverStep(data.memory_over_step),
    basis(report.basis),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}

/** The details of one run after the other. */
function replaceable(data: RunDocument): { element: HTMLElement; show: (shown: RunDocument) => void } {
  const element = h('div', { id: 'details' }, ...details(data));
  const show = (shown: RunDocument): void => {
    element.replaceChildren(...details(shown));
    mountCharts();
  };
  return { element, show };
}

/** @param open gives what answers questions on other settings */
export function runPage(data: RunDocument, open: () => Source = sourceInPage): HTMLElement[] {
  const { report, what_if: given } = data;
  const { model, hardware, strategy } = data.headline;
  const panel = given && whatIf(data, given, open(), (shown) => below!.show(shown)); // starts the engine, before anything is drawn
  const below = given && replaceable(data);
  const parts = [
    report.does_not_fit ? misfit(report.does_not_fit) : null,
    title(data.title, what([model, `${hardware} (${report.scenario.platform})`, strategy], data)),
    runAnswer(report),
    headline(report),
    bottleneck(report),
    warnings(coded(report)),
    ...(panel && below ? [panel, below.element] : details(data)),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}
