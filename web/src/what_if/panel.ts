// SPDX-License-Identifier: Apache-2.0
// What if: other settings, simulated in the page. Its changes are in the link's fragment, which is sent nowhere.
import { section } from '../chart';
import { copied } from '../copied';
import type { ChangeToFit, Report, RunDocument } from '../document';
import { button, choice, h } from '../dom';
import { timeText } from '../format';
import { working } from '../working';
import type { Described, Source } from './asker';
import { changed, commandOf, fragmentOf, History, inAddress, isSame, noChanges, restricted, type Changes } from './changes';
import type { Answer, Question, Wanted } from './engine';
import { chips, controls } from './knobs';
import { proposed } from './proposal';
import { fieldOf, isOfKind, valueOf } from './schema';
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
  /** The scenario of the run of this report. */
  yaml: string;
}

/** The engine's answer: the report, with the scenario as YAML, and the axes of a layout along which the model can be distributed. */
type Figures = Pick<RunDocument, 'report'> & { yaml: string; axes?: string[] };

const starting = 'Starting the engine …';
const ready = 'Ready: the run of this report';

/** How long nothing may change before charts are redrawn. */
const idle_ms = 250;

/** @param source what answers questions
 * @param redraw shows another run in the charts below; null: there are none */
export function whatIf(data: RunDocument, given: WhatIf, { asker, described, rehearse }: Source, redraw: ((shown: RunDocument) => void) | null, kept = inAddress): HTMLElement {
  const before = data.report;
  const history = new History(kept.read() ?? noChanges);
  let now: Changes = history.now; // of a slider in motion, too
  let after: Report = before;
  let below: 'changed' | 'report' = 'changed';
  let inCharts = ''; // of what changes; '': of none
  let asked = ''; // the changes of the last question
  let idle: ReturnType<typeof setTimeout> | undefined;
  let known: Described | undefined;
  let axes: string[] | undefined;
  let show: ReturnType<typeof controls>['show'] = () => {};

  const status = h('p', { class: 'status', role: 'status' }, starting);
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const earlier = h('p', { class: 'hint', hidden: true }, 'The figures and charts are those of earlier settings.');
  const remedy = h('p', { class: 'buttons' });
  const waysToFit = h('div', {});
  const table = h('div', {});
  const changesShown = h('div', {});
  const place = h('div', {});
  const command = copied('The command for this run');
  const yaml = copied('The scenario with these changes, as YAML');
  const scenario = h('details', {}, h('summary', {}, 'As a scenario'), yaml.element);
  const chart = bars(before, () => after);
  const undo = button('Undo', 'Undo the last change', () => step(() => history.undo()));
  const redo = button('Redo', 'Redo the change', () => step(() => history.redo()));
  const reset = button('Reset', 'Take back all changes', () => step(() => history.add(noChanges)));
  const fit = button('Largest batch that fits', 'Set the largest batch whose memory fits into the GPUs', () => {
    clearTimeout(idle);
    begin();
    asked = '';
    const written = now;
    asker.ask({ ...question('figures'), fit: true }, (answer) => {
      rest();
      if (answer.status) return take(answer, 0);
      const { largest_batch: largest, changes_to_fit: ways = [] } = (JSON.parse(answer.text) as Figures).report;
      showWays(ways, written);
      if (largest) change('job.batch_per_gpu', String(largest.batch_per_gpu), true);
      else showRun(JSON.parse(answer.text) as Figures, '');
    }, work.show);
  });
  const link = button('Copy link', 'Copy a link to this page with these changes', () => void navigator.clipboard.writeText(location.href).catch(() => (status.textContent = 'The address of this page is the link.')));
  const work = working(() => {
    asker.cancel();
    asked = '';
    rest();
    mark();
    status.textContent = 'Cancelled: the figures are those of the settings before.';
  });
  const charts = choice('Charts below show', [['changed', 'the changed run'], ['report', 'the run of this report']], below, (chosen) => {
    below = chosen as typeof below;
    drawBelow();
  });

  /** Of the run of this report; '': its default. */
  const original = (key: string): string => given.set.filter(([one]) => one === key).pop()?.[1] ?? (valueOf(before.scenario, key) || String(fieldOf(known!.schema, key)?.default ?? ''));
  const present = (key: string): string => now.get(key) ?? original(key);
  /** Whether the chosen strategy has the key. */
  const isOfStrategy = (changes: Changes, key: string): boolean => !known || isOfKind(known.schema, changes.get('strategy.kind') ?? original('strategy.kind'), key);
  const all = (): [string, string][] => [...given.set.filter(([key]) => !now.has(key) && isOfStrategy(now, key)), ...now];
  const question = (wanted: Wanted): Question => ({ scenario: given.scenario, set: all(), roots: given.roots, wanted });

  /** What makes the job fit with the settings that it had, each with its step; a button sets it. */
  function showWays(ways: ChangeToFit[], written: Changes): void {
    const take = ({ words, set, step_time_s: time, memory_verdict: verdict }: ChangeToFit): HTMLElement => {
      const text = `${words}: ${verdict}, ${timeText(time)} a step`;
      return button(text, `With the settings before: ${text}`, () => {
        history.add(Object.entries(set).reduce((all, [key, value]) => changed(all, key, value === original(key) ? '' : value), written));
        update(history.now);
      });
    };
    waysToFit.replaceChildren(...(ways.length === 0 ? [] : [h('p', {}, 'With the batch as written, the job fits with:'), h('p', { class: 'buttons' }, ...ways.map(take))]));
  }

  /** Shows the changed run in the charts, or that of the report. */
  function drawBelow(): void {
    const wanted = below === 'changed' ? fragmentOf(now) : '';
    if (wanted === inCharts || !redraw) return;
    const show = (shown: RunDocument): void => {
      inCharts = wanted;
      redraw(shown);
    };
    if (wanted === '') return show(data);
    if (panel.classList.contains('busy')) return; // the answer to a newer question draws them
    asker.ask(question('page'), ({ status: failed, text }) => {
      if (below === 'report' || wanted !== fragmentOf(now)) return;
      if (failed) status.textContent += ' The charts below are those of an earlier run, because these could not be drawn.';
      else show(JSON.parse(text) as RunDocument);
    });
  }

  function begin(): void {
    work.start();
    panel.classList.add('busy');
  }
  function rest(): void {
    work.end();
    panel.classList.remove('busy');
  }

  /** Figures of other settings than the present ones are marked. */
  function mark(): void {
    const isEarlier = (panel.dataset.shown ?? '') !== fragmentOf(now);
    panel.classList.toggle('earlier', isEarlier);
    earlier.hidden = !isEarlier;
    scenario.hidden = isEarlier;
  }

  function take(answer: Answer, start: number): void {
    const hasFailed = answer.status !== 0;
    const line = commandOf(given.command, all());
    problem.hidden = !hasFailed;
    remedy.replaceChildren();
    rest();
    if (hasFailed) {
      mark();
      status.textContent = 'No answer for these settings.';
      problem.textContent = `${answer.text.trim()}\n\nWith the program: ${line}`;
      const set = known && proposed(answer.text, known.schema);
      if (set) remedy.replaceChildren(button(`Set ${set[0]} to ${set[1]}`, `Set ${set[0]} to ${set[1]}, as proposed`, () => change(...set, true)));
      return;
    }
    showRun(JSON.parse(answer.text) as Figures, `, simulated in ${timeText((performance.now() - start) / 1000)}`);
  }

  /** Tells if the engine does not simulate the run of this report, or predicts something else than the program that wrote it. */
  function compare({ status: failed, text }: Answer): void {
    if (now.size > 0) return;
    const predicted = failed ? undefined : (JSON.parse(text) as Figures).report.metrics.step_time_s;
    if (predicted === before.metrics.step_time_s) {
      status.textContent = `${ready}. The engine of this page predicts the same step.`;
      return;
    }
    problem.hidden = false;
    problem.textContent =
      predicted === undefined
        ? `The engine of this page cannot simulate the run of this report.\n\n${text.trim()}`
        : `The engine of this page predicts ${timeText(predicted)} for the run of this report, not ${timeText(before.metrics.step_time_s)}: it was built from other sources than the program. Differences below are then not only those of the changes.`;
  }

  /** @param taken how long it was simulated; '': it was known */
  function showRun(found: Figures, taken: string): void {
    after = found.report;
    if (found.axes && String(found.axes) !== String(axes)) show(present, (axes = found.axes));
    status.textContent =
      now.size === 0
        ? known ? `${ready}.` : starting
        : after.fits === false
        ? `The job ${after.does_not_fit ?? 'does not fit'}${taken}.`
        : `A step takes ${timeText(after.metrics.step_time_s)} instead of ${timeText(before.metrics.step_time_s)} (${difference(before.metrics.step_time_s, after.metrics.step_time_s)})${taken}.`;
    table.replaceChildren(sides(before, after));
    chart.redraw();
    yaml.show(found.yaml);
    panel.dataset.shown = fragmentOf(now);
    mark();
    idle = setTimeout(drawBelow, idle_ms);
  }

  function update(changes: Changes): void {
    now = changes;
    undo.disabled = !history.canUndo;
    redo.disabled = !history.canRedo;
    reset.disabled = now.size === 0;
    show(present, axes);
    changesShown.replaceChildren(chips(now, original, change));
    command.show(commandOf(given.command, all()));
    kept.write(now);
    askFigures();
  }

  /** Asks for the run with the present changes, if that is not the last question. */
  function askFigures(): void {
    const wanted = JSON.stringify(all());
    if (wanted === asked) return;
    asked = wanted;
    clearTimeout(idle);
    if (now.size === 0) {
      asker.cancel();
      problem.hidden = true;
      rest();
      return showRun({ ...data, yaml: given.yaml }, '');
    }
    begin();
    const start = performance.now();
    asker.ask(question('figures'), (answer) => take(answer, start), work.show);
  }

  function step(move: () => void): void {
    move();
    update(history.now);
  }

  function change(key: string, value: string, isFinal: boolean): void {
    const asChosen = changed(now, key, value === original(key) ? '' : value);
    const next = restricted(asChosen, (one) => isOfStrategy(asChosen, one));
    if (isFinal) history.add(next);
    update(next);
  }

  async function start(): Promise<void> {
    try {
      askFigures();
      known = await described;
      const made = controls(known.schema, known.platforms, change);
      show = made.show;
      place.replaceChildren(made.element);
      update(history.now);
      if (now.size > 0) return;
      status.textContent = `${ready}.`;
      rehearse?.(question('figures'), compare);
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
      h('div', {}, place, h('div', { class: 'controls' }, h('span', { class: 'buttons' }, undo, redo, reset, fit, link), redraw && charts), changesShown),
      h('div', { class: 'results' }, earlier, table, problem, remedy, waysToFit, chart.element),
    ),
    status,
    work.element,
    command.element,
    scenario,
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
    const linked = kept.read();
    if (linked && known && !isSame(linked, now)) step(() => history.add(linked));
  };
  window.addEventListener('hashchange', follow);
  table.replaceChildren(sides(before, before));
  void start();
  return panel;
}
