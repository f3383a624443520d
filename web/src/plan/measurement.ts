// SPDX-License-Identifier: Apache-2.0
// A measurement of the reader, scored by the engine of the page, and kept as a file of cases.
import { section } from '../chart';
import { button, h } from '../dom';
import { rangeText, signedPercentText, timeText } from '../format';
import { cell, tableOf } from '../table';
import { save } from '../ui/save';
import type { Answering } from '../what_if/asker';
import type { Files } from '../what_if/engine';

interface Scored {
  name: string;
  scenario: string;
  measured: string;
  measured_s: number;
  predicted_s: number;
  interval: [number, number];
}

const units: Record<string, number> = { us: 1e-6, ms: 1e-3, s: 1, min: 60 };

/** Seconds of "3.2 s"; null: it is no time. */
function secondsOf(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(us|ms|s|min)$/.exec(text.trim());
  return match && Number(match[1]) > 0 ? Number(match[1]) * units[match[2]!]! : null;
}

const fileOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '').toLowerCase() || 'measured';

const scoredTable = (all: Scored[]): HTMLElement =>
  tableOf({
    caption: 'Your measurements',
    columns: [{ name: 'case' }, ...['measured', 'predicted', '90 % interval', 'error'].map((name) => ({ name, number: true })), { name: 'verdict' }],
    rows: all.map(({ name, measured_s: measured, predicted_s: predicted, interval }) => [
      cell(name),
      cell(timeText(measured), measured),
      cell(timeText(predicted), predicted),
      cell(rangeText(interval), interval[0]),
      cell(signedPercentText(predicted / measured - 1), predicted / measured - 1),
      cell(measured < interval[0] ? 'faster than the interval' : measured > interval[1] ? 'slower than the interval' : 'within the interval'),
    ]),
  });

const yamlText = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/** The file of cases, for `gradway validate`. */
export const casesOf = (all: Pick<Scored, 'name' | 'measured'>[], source: string): string =>
  `schema: 1\nsource: ${yamlText(source)}\ncases:\n${all.map(({ name, measured }) => `  - { name: ${fileOf(name)}, scenario: ${fileOf(name)}.yaml, step_time: ${measured} }\n`).join('')}`;

export interface Measurement {
  element: HTMLElement;
  /** Puts a scenario into the form. */
  fill(name: string, scenario: string): void;
}

/** @param own files that a scenario may name, besides those of the page */
export function measurement(answering: (own: () => Files) => Answering, roots: string[], own: () => Files): Measurement {
  const all: Scored[] = [];
  const field = (label: string, placeholder: string): HTMLInputElement => h('input', { type: 'text', 'aria-label': label, placeholder, size: 24, autocomplete: 'off' });
  const name = field('Name of the measurement', 'my-node-8-gpus');
  const time = field('Measured time of a step', '640 ms');
  const scenario = h('textarea', { rows: 8, 'aria-label': 'Scenario, in YAML', placeholder: 'The scenario of the step, as gradway init writes it; “Scenario for …” of a plan fills it in', spellcheck: 'false' });
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const results = h('div', { role: 'status' });
  const keep = h('p', { class: 'buttons', hidden: true }, button('Save the cases', 'Save a file of cases for gradway validate, and its scenarios', () => {
    save('cases.yaml', casesOf(all, 'my own measurement'), 'application/yaml');
    for (const one of all) save(`${fileOf(one.name)}.yaml`, one.scenario, 'application/yaml');
  }));
  const fail = (text: string): void => {
    problem.hidden = text === '';
    problem.textContent = text;
  };
  const score = (): void => {
    const measured = secondsOf(time.value);
    if (scenario.value.trim() === '') return fail('Paste the scenario of the step, or press “Scenario for …” of a plan above.');
    if (measured === null) return fail(`“${time.value}” is not a time of a step: write it as 640 ms or 3.2 s.`);
    const text = scenario.value;
    const answers = answering(() => ({ ...own(), 'measured.yaml': text }));
    answers.start({ scenario: 'measured.yaml', set: [], roots, wanted: 'figures' }, ({ status, text: answer }) => {
      fail(status === 0 ? '' : answer.trim());
      if (status !== 0) return;
      const { metrics, interval } = (JSON.parse(answer) as { report: { metrics: { step_time_s: number }; interval: { step_time_s: [number, number] } } }).report;
      const called = name.value.trim() || `measured-${all.length + 1}`;
      const others = all.filter((one) => fileOf(one.name) !== fileOf(called));
      all.splice(0, Infinity, ...others, { name: called, scenario: text, measured: time.value.trim(), measured_s: measured, predicted_s: metrics.step_time_s, interval: interval.step_time_s });
      results.replaceChildren(scoredTable(all));
      keep.hidden = false;
    }, () => undefined);
  };
  const labelled = (text: string, input: HTMLElement): HTMLElement => h('label', { class: 'choice' }, h('span', {}, text), input);
  const element = section(
    'measure',
    'Your measurement',
    'Score a step that you measured; nothing leaves this page',
    h('div', { class: 'controls' }, labelled('Name', name), labelled('Measured time of a step', time), button('Score', 'Predict the scenario and compare it with the measured time', score)),
    labelled('Scenario', scenario),
    problem,
    results,
    keep,
  );
  return {
    element,
    fill: (called, text) => {
      name.value = called;
      scenario.value = text;
    },
  };
}
