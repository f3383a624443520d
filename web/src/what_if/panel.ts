// SPDX-License-Identifier: Apache-2.0
// What if: other settings, simulated in the page. Its changes are in the link's fragment, which is sent nowhere.
import { section } from '../chart';
import type { Report, RunDocument } from '../document';
import { copied } from '../copied';
import { button, choice, h } from '../dom';
import { timeText } from '../format';
import { working } from '../working';
import type { Source } from './asker';
import { changed, changesOf, commandOf, fragmentOf, History, isSame, noChanges, type Changes } from './changes';
import type { Answer } from './engine';
import { chips, controls } from './knobs';
import { fieldOf, valueOf } from './schema';
import { bars, difference, sides } from './sides';

/** What `gradway run --what-if` adds to the document. */
export interface WhatIf {
  /** Name of the scenario among the files of the page. */
  scenario: string;
  /** Overrides of the run. */
  set: [key: string, value: string][];
  /** Data folders among the files that precede the installed data. */
  roots: string[];
  /** The command that runs the scenario, without its overrides. */
  command: string;
  /** The scenario of the run of this report, if it is known: then the run is not simulated again. */
  yaml?: string;
}

/** The engine's answer: the document of a run, with the scenario as YAML. */
type ChangedDocument = RunDocument & { yaml: string };

/** @param open gives what answers questions
 * @param redraw shows another run in the charts below */
export function whatIf(data: RunDocument, given: WhatIf, open: () => Promise<Source>, redraw: (shown: RunDocument) => void): HTMLElement {
  const before = data.report;
  const history = new History(changesOf(location.hash) ?? noChanges);
  let now: Changes = history.now; // of a slider in motion, too
  let after: Report = before;
  let latest: RunDocument = data;
  let below: 'changed' | 'report' = 'changed';
  let inCharts: RunDocument = data;
  let asked = ''; // the last question
  let idle: ReturnType<typeof setTimeout> | undefined;
  let source: Source | undefined;
  let show: (valueOf: (key: string) => string) => void = () => {};

  const status = h('p', { class: 'status', role: 'status' }, 'Starting the engine …');
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const table = h('div', {});
  const changesShown = h('div', {});
  const place = h('div', {});
  const command = copied('The command for this run');
  const yaml = copied('The scenario with these changes, as YAML');
  const chart = bars(before, () => after);
  const undo = button('Undo', 'Undo the last change', () => step(() => history.undo()));
  const redo = button('Redo', 'Redo the change', () => step(() => history.redo()));
  const reset = button('Reset', 'Take back all changes', () => step(() => history.add(noChanges)));
  const link = button('Copy link', 'Copy a link to this page with these changes', () => void navigator.clipboard.writeText(location.href).catch(() => (status.textContent = 'The address of this page is the link.')));
  const work = working(() => {
    source!.asker.cancel();
    asked = '';
    rest();
    status.textContent = 'Cancelled: the figures are those of the settings before.';
  });
  const charts = choice('Charts below show', [['changed', 'the changed run'], ['report', 'the run of this report']], below, (chosen) => {
    below = chosen as typeof below;
    drawBelow();
  });

  /** Of the run of this report; '': its default. */
  const original = (key: string): string => given.set.filter(([one]) => one === key).pop()?.[1] ?? (valueOf(before.scenario, key) || String(fieldOf(source!.schema, key)?.default ?? ''));
  const all = (): [string, string][] => [...given.set.filter(([key]) => !now.has(key)), ...now];

  function drawBelow(): void {
    const wanted = below === 'changed' ? latest : data;
    if (wanted !== inCharts) redraw((inCharts = wanted));
  }

  function rest(): void {
    work.end();
    panel.classList.remove('busy');
  }

  function take(answer: Answer, start: number): void {
    const hasFailed = answer.status !== 0;
    const line = commandOf(given.command, all());
    problem.hidden = !hasFailed;
    rest();
    if (hasFailed) {
      status.textContent = 'No answer for these settings.';
      problem.textContent = `${answer.text.trim()}\n\nWith the program: ${line}`;
      return;
    }
    showRun(JSON.parse(answer.text) as ChangedDocument, timeText((performance.now() - start) / 1000));
  }

  /** @param taken how long it was simulated; '': it was known */
  function showRun(found: ChangedDocument, taken: string): void {
    if (now.size === 0 && found.report.metrics.step_time_s !== before.metrics.step_time_s) {
      problem.hidden = false;
      problem.textContent = `The engine of this page predicts ${timeText(found.report.metrics.step_time_s)} for the run of this report, not ${timeText(before.metrics.step_time_s)}: it was built from other sources than the program. Differences below are then not only those of the changes.`;
    }
    after = found.report;
    latest = now.size === 0 ? data : found;
    status.textContent =
      now.size === 0
        ? `Ready: the run of this report${taken && `, simulated in ${taken}`}.`
        : `A step takes ${timeText(after.metrics.step_time_s)} instead of ${timeText(before.metrics.step_time_s)} (${difference(before.metrics.step_time_s, after.metrics.step_time_s)}). Simulated in ${taken}.`;
    table.replaceChildren(sides(before, after));
    chart.redraw();
    yaml.show(found.yaml);
    panel.dataset.shown = fragmentOf(now);
    clearTimeout(idle);
    idle = setTimeout(drawBelow, 250);
  }

  function update(changes: Changes): void {
    now = changes;
    undo.disabled = !history.canUndo;
    redo.disabled = !history.canRedo;
    reset.disabled = now.size === 0;
    show((key) => now.get(key) ?? original(key));
    changesShown.replaceChildren(chips(now, original, change));
    command.show(commandOf(given.command, all()));
    const fragment = fragmentOf(now);
    if (fragment || changesOf(location.hash)) window.history.replaceState(null, '', fragment || '#what-if');
    const question = JSON.stringify(all());
    if (question === asked) return;
    asked = question;
    const start = performance.now();
    if (now.size === 0 && given.yaml !== undefined) {
      source!.asker.cancel();
      problem.hidden = true;
      rest();
      return showRun({ ...data, yaml: given.yaml }, '');
    }
    panel.classList.add('busy');
    work.start();
    source!.asker.ask({ scenario: given.scenario, set: all(), roots: given.roots }, (answer) => take(answer, start), work.show);
  }

  function step(move: () => void): void {
    move();
    update(history.now);
  }

  function change(key: string, value: string, isFinal: boolean): void {
    const next = changed(now, key, value === original(key) ? '' : value);
    if (isFinal) history.add(next);
    update(next);
  }

  async function start(): Promise<void> {
    try {
      source = await open();
      const made = controls(source.schema, source.platforms, change);
      show = made.show;
      place.replaceChildren(made.element);
      update(history.now);
    } catch (error) {
      status.textContent = `The engine cannot run in this browser: ${error instanceof Error ? error.message : error}. Use the program: ${commandOf(given.command, given.set)}`;
    }
  }

  const panel = section(
    'what-if',
    'What if',
    'Change a setting and see the step, its cost and its bottleneck',
    h(
      'div',
      { class: 'columns' },
      h('div', {}, place, h('div', { class: 'controls' }, h('span', { class: 'buttons' }, undo, redo, reset, link), charts), changesShown),
      h('div', { class: 'results' }, table, problem, chart.element),
    ),
    status,
    work.element,
    command.element,
    h('details', {}, h('summary', {}, 'As a scenario'), yaml.element),
  );
  panel.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || (event.target as HTMLElement).matches('input[type=text]')) return;
    const isRedo = event.key === 'y' || (event.key === 'Z' && event.shiftKey);
    if (!isRedo && event.key !== 'z') return;
    event.preventDefault();
    step(() => (isRedo ? history.redo() : history.undo()));
  });
  const follow = (): void => {
    if (!panel.isConnected) return window.removeEventListener('hashchange', follow);
    const linked = changesOf(location.hash);
    if (linked && source && !isSame(linked, now)) step(() => history.add(linked));
  };
  window.addEventListener('hashchange', follow);
  table.replaceChildren(sides(before, before));
  void start();
  return panel;
}
