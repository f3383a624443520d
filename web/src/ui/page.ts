// SPDX-License-Identifier: Apache-2.0
// The page of `gradway ui`: a list of scenarios, a run with other settings, or a sweep.
import { mountCharts, section } from '../chart';
import { copied } from '../copied';
import type { RunDocument, SweepDocument } from '../document';
import { button, h } from '../dom';
import { bar, title } from '../header';
import type { PlanDocument } from '../plan/document';
import { planPage } from '../plan/page';
import type { PageDocument } from '../page_document';
import { runPage } from '../run/page';
import { sweepPage } from '../sweep/page';
import { Asker, type Source } from '../what_if/asker';
import { changesOf, commandOf, shellWord } from '../what_if/changes';
import type { Answer, Files } from '../what_if/engine';
import { working } from '../working';
import type { UiDocument } from './document';
import { chooser, hasFile, ownFiles, takeDropped } from './own_files';
import { addressOf, listOfScenarios, placeOf, type Place } from './place';
import { reportOf, save } from './save';
import { Server, ServerPlanner } from './server';
import { startPage } from './start';
import { sweepForm } from './sweep_form';

/** Questions of the planner that are asked at a time; a browser has six connections to a server. */
const atATime = 4;

/** The document of report.html in an answer, and what the server adds to it. */
function runIn(answer: string): { yaml: string; run: RunDocument } {
  const { yaml, ...run } = JSON.parse(answer) as RunDocument & { yaml: string };
  return { yaml, run };
}

function sweepIn(answer: string): { csv: string; sweep: SweepDocument } {
  const { csv, ...sweep } = JSON.parse(answer) as SweepDocument & { csv: string };
  return { csv, sweep };
}

/** The end of a name: "g6e" of "article/g6e". */
const lastPart = (name: string): string => name.replace(/.*\//, '').replace(/\.ya?ml$/, '');

export function uiPage(page: HTMLElement, data: UiDocument): void {
  const server = new Server(data.command);
  let shown = ''; // the part of the address
  const described = { schema: data.schema_of_scenarios, platforms: data.platforms };
  let leave = new AbortController(); // aborted when another place is shown

  const filesFor = ({ inMemory }: Place): Files => (inMemory ? ownFiles() : {});

  function show(contents: PageDocument, parts: HTMLElement[]): void {
    document.title = `${contents.title} – gradway`;
    const home = h('a', { class: 'name', href: './' }, 'gradway ui');
    page.replaceChildren(bar(contents, parts, home), h('main', {}, ...parts), h('footer', {}, `gradway ${data.gradway} on this machine. Results leave it only if you save them.`));
    mountCharts();
  }

  function go(place: Place): void {
    history.pushState(null, '', addressOf(place) === './' ? location.pathname : addressOf(place));
    route();
    scrollTo(0, 0);
  }

  /** Shows new files: at once if they hold one scenario. */
  function chosen(scenarios: string[]): void {
    if (scenarios.length === 1) go({ ...listOfScenarios, scenario: scenarios[0]!, inMemory: true });
    else go(listOfScenarios);
  }

  /** A page for work, and then for its failure if it has no result. @returns the text of the result */
  async function wait(place: Place, kind: string, what: string): Promise<string | null> {
    const work = working(() => go(kind === 'run' || kind === 'plan' ? listOfScenarios : { ...place, set: [], vary: [] }));
    const name = place.scenario || data.title;
    show({ ...data, title: name }, [title(name, what), work.element]);
    work.start();
    const { scenario, set, vary } = place;
    const answer = await server.ask(kind, { scenario, set, vary, files: filesFor(place) }, leave.signal, work.show);
    work.end();
    if (!answer) return null;
    if (answer.status === 0) return answer.text;
    fail(place, answer);
    return null;
  }

  function fail(place: Place, answer: Answer): void {
    const parts = [
      title(place.scenario, place.vary.length > 0 ? 'The sweep has no result' : 'The scenario cannot be simulated'),
      h('pre', { class: 'code problem', role: 'alert' }, answer.text.trim()),
      h('p', { class: 'ways' }, h('a', { href: './' }, 'All scenarios'), button('Try again', 'Ask again, after a file has been corrected', () => route())),
    ];
    if (place.inMemory) parts.push(h('p', { class: 'lead' }, 'Choose a corrected file: '), chooser(chosen));
    if (place.vary.length > 0) parts.push(sweepForm(data.schema_of_scenarios, place.vary, (vary) => go({ ...place, vary })));
    show({ ...data, title: place.scenario }, parts);
  }

  async function showPlan(place: Place): Promise<void> {
    const text = await wait(place, 'plan', 'Reading models and platforms');
    if (text === null) return;
    const plan = JSON.parse(text) as PlanDocument;
    show(plan, planPage(plan, () => new ServerPlanner(server, described, atATime, leave.signal)));
  }

  async function showRun(place: Place): Promise<void> {
    const text = await wait(place, 'run', 'Simulating the scenario');
    if (text === null) return;
    const { yaml, run } = runIn(text);
    const asker = new Asker(server.answering(() => filesFor(place)));
    leave.signal.addEventListener('abort', () => asker.cancel());
    const source: Source = { asker, described: Promise.resolve(described) };
    const command = `gradway run ${shellWord(place.scenario)}`;
    const parts = runPage({ ...run, what_if: { scenario: place.scenario, set: [], roots: [], command, yaml } }, () => source);
    const set = (): [string, string][] => [...(changesOf(location.hash) ?? [])];
    const after = parts.findIndex(({ id }) => id === 'what-if') + 1;
    parts.splice(after, 0, sweepForm(data.schema_of_scenarios, [], (vary) => go({ ...place, set: set().filter(([key]) => !vary.some((one) => one.startsWith(`${key}=`))), vary })), downloads(place, run, set));
    show(run, parts);
  }

  /** Files of the settings that are shown. @param run without changes */
  function downloads(place: Place, run: RunDocument, set: () => [string, string][]): HTMLElement {
    const name = lastPart(place.scenario);
    const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
    let up = new AbortController();
    const work = working(() => up.abort());
    leave.signal.addEventListener('abort', () => up.abort());
    const ask = async (kind: string, take: (text: string) => Promise<void> | void): Promise<void> => {
      up.abort();
      const { signal } = (up = new AbortController());
      problem.hidden = true;
      work.start();
      const answer = await server.ask(kind, { scenario: place.scenario, set: set(), files: filesFor(place) }, signal, work.show);
      if (signal === up.signal) work.end();
      if (!answer) return;
      if (answer.status === 0) return take(answer.text);
      problem.hidden = false;
      problem.textContent = answer.text.trim();
    };
    const savePage = async (changed: RunDocument): Promise<void> => save(`${name}.html`, await reportOf(changed), 'text/html');
    return section(
      'save',
      'Save',
      'Save the run with the settings above',
      h(
        'div',
        { class: 'controls' },
        h('span', { class: 'buttons' },
          button('report.html', 'Save the page of this run', () => void (set().length === 0 ? savePage(run) : ask('run', (text) => savePage(runIn(text).run)))),
          button('report.json', 'Save the report of this run', () => void ask('report', (text) => save(`${name}.json`, text, 'application/json'))),
          button('scenario.yaml', 'Save the scenario with the changes', () => void ask('run', (text) => save(`${name}.yaml`, runIn(text).yaml, 'application/yaml'))),
        ),
      ),
      work.element,
      problem,
    );
  }

  async function showSweep(place: Place): Promise<void> {
    const text = await wait(place, 'sweep', `Simulating ${place.vary.join(' and ')}`);
    if (text === null) return;
    const { csv, sweep } = sweepIn(text);
    const name = `${lastPart(place.scenario)}-sweep`;
    const command = copied('The command for this sweep');
    command.show(commandOf(`gradway sweep ${shellWord(place.scenario)}`, place.set, place.vary));
    const back = { ...place, set: [], vary: [] };
    const parts = sweepPage(sweep);
    parts.splice(
      1,
      0,
      h('p', { class: 'ways' },
        h('a', { href: addressOf(back) }, `Back to ${place.scenario}`),
        h('span', { class: 'ways' },
          button('report.html', 'Save this page', () => void reportOf(sweep).then((report) => save(`${name}.html`, report, 'text/html'))),
          button('sweep.csv', 'Save one row for each point', () => save(`${name}.csv`, csv, 'text/csv')),
        ),
      ),
    );
    parts.push(section('again', 'Command', 'The same from the command line', command.element), sweepForm(data.schema_of_scenarios, place.vary, (vary) => go({ ...place, vary })));
    show(sweep, parts);
  }

  function showStart(): void {
    show(data, startPage(data, server, chosen));
  }

  function showForgotten({ scenario }: Place): void {
    show(data, [
      title(scenario, 'This file was in the memory of the page, which is empty after it was loaded again'),
      h('p', { class: 'lead' }, 'Choose the file again, with the models and platforms that it names.'),
      chooser(chosen),
      h('p', {}, h('a', { href: './' }, 'All scenarios')),
    ]);
  }

  function route(): void {
    leave.abort();
    leave = new AbortController();
    shown = location.search;
    const place = placeOf(shown);
    if (place.plan) void showPlan(place);
    else if (!place.scenario) showStart();
    else if (place.inMemory && !hasFile(place.scenario)) showForgotten(place);
    else void (place.vary.length > 0 ? showSweep(place) : showRun(place));
  }

  // Links to other places of this page load nothing.
  page.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const address = link?.getAttribute('href');
    if (!isPlain || !address || !(address === './' || address.startsWith('?'))) return;
    event.preventDefault();
    go(address === './' ? listOfScenarios : placeOf(address));
  });
  addEventListener('popstate', () => location.search !== shown && route());
  takeDropped(chosen);
  if (data.scenario && !location.search) history.replaceState(null, '', addressOf({ ...listOfScenarios, scenario: data.scenario }));
  route();
}
