// SPDX-License-Identifier: Apache-2.0
// The planner: a training on several clusters side by side, with layouts, days, dollars and failures.
import { daysAgainstDollars } from '../campaigns/scatter';
import { meetsLimits, pointsTable } from '../campaigns/table';
import type { CampaignPoint } from '../campaigns/document';
import { mountCharts, section } from '../chart';
import { copied } from '../copied';
import { button, h } from '../dom';
import { bytesText, counted, known, nothing, numberText, percentText, rangeText, shareText, spanText, timeText, usdText } from '../format';
import { answer, title } from '../header';
import { cell, tableOf, type Table } from '../table';
import { shellWord } from '../what_if/changes';
import type { Answer, Files, PlanQuestion } from '../what_if/engine';
import { campaignQuestion, checkQuestion, choicesOf, clustersOf, fragmentOf, layoutQuestion, missing, spaced, type Cluster } from './choices';
import { controls } from './controls';
import type { Campaigns, Choices, FoundLayout, PlanDocument } from './document';
import { Pool } from './pool';
import type { PlanEngine } from './turns';

/** Simulated runs of each campaign. */
const seeds = 100;
const mostWorkers = 4;
/** Clusters that the answer names besides the cheapest. */
const mostNamed = 2;

type Found = FoundLayout | { error: string };

const isFound = (one: Found | undefined): one is FoundLayout => one !== undefined && !('error' in one);

/** The reason of a failure, without "error:" and the place. */
const reasonOf = (text: string): string => text.trim().replace(/^error: /, '');

/** A failure without the options of the program. */
const withoutOptions = (text: string): string => text.trim().replace(/^--set [a-z_.]+=/gm, '');

const clusterText = ({ set }: CampaignPoint): string => `${set.platform} with ${counted(Number(set['job.gpus']), 'GPU')}`;

const clusterName = ({ platform, gpus }: Cluster): string => `${platform}, ${counted(gpus, 'GPU')}`;

function copiedText(label: string, text: string): HTMLElement {
  const { element, show } = copied(label);
  show(text);
  return element;
}

/** What the chosen clusters answer, in one sentence. */
function sentenceOf(all: Campaigns): string {
  const { limits, best, cheapest, fastest, tied } = all;
  const hasLimits = known(limits.deadline_s) || known(limits.budget_usd);
  const figures = (run: CampaignPoint): string => `${spanText(run.estimate?.seconds.median)}${run.estimate?.usd ? ` and ${usdText(run.estimate.usd.median)}` : ''}`;
  const asked = [known(limits.deadline_s) && `within ${spanText(limits.deadline_s)}`, known(limits.budget_usd) && `for at most ${usdText(limits.budget_usd)}`].filter(Boolean).join(' and ');
  if (hasLimits && best === null) return `No cluster trains it ${asked}.`;
  const shown = hasLimits ? best! : (cheapest ?? tied?.cheapest?.runs[0] ?? fastest ?? tied?.fastest?.runs[0]);
  if (shown === null || shown === undefined) return 'No cluster can train it.';
  const run = all.runs[shown]!;
  const others = tied?.cheapest?.runs.includes(shown) ? tied.cheapest.runs.map((one) => all.runs[one]!).filter((one) => one !== run && meetsLimits(one)) : [];
  const kept = [run.limits?.deadline_kept, run.limits?.budget_kept].filter(known);
  const met = hasLimits && kept.length > 0 ? `, met by ${shareText(Math.min(...kept))} of the runs` : '';
  const word = run.estimate?.usd ? 'cheapest' : 'fastest';
  const tiedText = others.length > mostNamed ? counted(others.length, 'other cluster') : others.map(clusterText).join(' and ');
  return `The ${word}${hasLimits ? ` ${asked}` : ''} is ${clusterText(run)}: ${figures(run)}${others.length > 0 ? `, tied in cost with ${tiedText}` : ''}${met}.`;
}

/** The layouts of the clusters. */
function layoutsTable(rows: [Cluster, FoundLayout][]): Table {
  return {
    caption: 'The layout of each cluster (t: tensor ranks, p: stages x chunks, c: context ranks, e: expert ranks, d: data-parallel ranks, mb: micro-batch, full: blocks recomputed, r: replicas)',
    columns: [{ name: 'platform' }, { name: 'GPUs', number: true }, { name: 'layout' }, ...['step time', '90 % interval', 'tokens/s per GPU', 'MFU', 'memory per GPU'].map((name) => ({ name, number: true })), { name: 'memory' }],
    rows: rows.map(([{ platform, gpus }, found]) => [
      cell(platform),
      cell(String(gpus), gpus),
      cell(found.words),
      cell(timeText(found.step_time_s), found.step_time_s),
      cell(rangeText(found.interval), found.interval[0]),
      cell(numberText(found.tokens_per_s_per_gpu), found.tokens_per_s_per_gpu ?? null),
      cell(known(found.mfu) ? percentText(found.mfu) : nothing, found.mfu ?? null),
      cell(bytesText(found.memory_needed_bytes), found.memory_needed_bytes),
      cell(found.memory_verdict),
    ]),
  };
}

/** @param makeEngine where questions go; workers of this page if not given */
export function planPage(data: PlanDocument, makeEngine: () => PlanEngine = () => new Pool(Math.max(1, Math.min(mostWorkers, navigator.hardwareConcurrency || 2)), data.plan.roots)): HTMLElement[] {
  const before = spaced(data.plan.choices);
  let choices = choicesOf(location.hash, before) ?? before;
  const own: Files = {};
  const layouts = new Map<string, Found>();
  const asked = new Set<string>();
  let campaignsAsked = ''; // the last question
  let shown: { settings: string; all: Campaigns } | undefined; // in the results
  let isSimulating = false;
  const engine = makeEngine();

  const status = h('p', { class: 'status', role: 'status' }, 'Starting the engine …');
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const sentence = h('div', { id: 'plan-answer' });
  const results = h('div', { id: 'plan-results' });
  const earlier = h('p', { class: 'box', id: 'plan-earlier', hidden: true }, 'The answers below are those of earlier settings.');
  const details = h('div', { id: 'plan-details', hidden: true });

  const ask = (plan: PlanQuestion['plan'], text: string): Promise<Answer> => engine.ask({ plan, text, roots: data.plan.roots, own });
  const listed = (name: string) => data.plan.models.find((one) => one.name === name);
  const ownText = (name: string): string | undefined => own[engine.fileOf(name)];
  const isModel = (name: string): boolean => listed(name) !== undefined || ownText(name) !== undefined;
  /** Models of text say how many tokens a sample has. */
  const isText = (): boolean => /^sequence:/m.test(ownText(choices.model) ?? '') || (listed(choices.model)?.tokens_per_sample ?? Number(ownText(choices.model) === undefined)) > 0;
  const settings = (): string => JSON.stringify([choices, own]);
  const key = (cluster: Cluster): string => layoutQuestion(choices, cluster);
  const found = (): [Cluster, FoundLayout][] =>
    clustersOf(choices).flatMap((cluster): [Cluster, FoundLayout][] => {
      const one = layouts.get(key(cluster));
      return isFound(one) ? [[cluster, one]] : [];
    });

  function fail(text: string): void {
    problem.hidden = text === '';
    problem.textContent = text;
  }

  /** Answers of other settings than the present ones are marked, and cannot be used. */
  function mark(): void {
    const isEarlier = shown !== undefined && shown.settings !== settings();
    earlier.hidden = !isEarlier;
    for (const part of [sentence, results]) part.inert = isEarlier;
  }

  async function showDetails(cluster: Cluster, layout: FoundLayout): Promise<void> {
    const asked = settings();
    const { status: code, text } = await ask('scenario', campaignQuestion(choices, isText(), seeds, [[cluster, layout]]));
    if (asked !== settings()) return;
    const ownModel = ownText(choices.model);
    const limits = (['deadline', 'budget'] as const).filter((limit) => choices[limit] !== '').map((limit) => ` --${limit} ${shellWord(choices[limit])}`);
    details.hidden = false;
    details.replaceChildren(
      h('p', { class: 'hint' }, `${clusterName(cluster)}: ${layout.words}`),
      copiedText('The scenario of this cluster: save it as plan.yaml', text),
      ...(ownModel === undefined ? [] : [copiedText(`Its model: save it as models/${choices.model}.yaml, in a folder beside plan.yaml`, ownModel)]),
      ...(code === 0 ? [copiedText('The command that simulates it in detail', `gradway campaign plan.yaml --seeds ${seeds}${limits.join('')} --out result`)] : []),
    );
    details.scrollIntoView({ block: 'nearest' });
  }

  function showResults(all: Campaigns): void {
    const rows = found();
    const hasRun = all.runs.some((run) => !run.error);
    if (shown?.settings !== settings()) details.hidden = true;
    shown = { settings: settings(), all };
    mark();
    sentence.replaceChildren(...(hasRun ? [answer(sentenceOf(all))] : []));
    const failed = clustersOf(choices).flatMap((cluster) => {
      const one = layouts.get(key(cluster));
      return one && 'error' in one ? [h('li', {}, `${clusterName(cluster)}: ${reasonOf(one.error)}`)] : [];
    });
    const buttons = rows.map(([cluster, layout]) => button(`Scenario for ${clusterName(cluster)}`, `Show the scenario for ${clusterName(cluster)}`, () => void showDetails(cluster, layout)));
    results.replaceChildren(
      ...[
        hasRun ? daysAgainstDollars(all) : null,
        hasRun ? section('runs', 'Table', 'Each cluster with failures, checkpoints and restarts', tableOf(pointsTable(all))) : null,
        section('layouts', 'Layouts', 'The layout of each cluster that certainly fits', tableOf(layoutsTable(rows)), h('p', { class: 'controls' }, ...buttons), details),
        failed.length > 0 ? section('failed', 'Not possible', counted(failed.length, 'cluster'), h('ul', {}, ...failed)) : null,
      ].filter((part): part is HTMLElement => part !== null),
    );
    mountCharts();
  }

  /** Says why no campaign could be simulated: at once without a hint, then with it. */
  async function explain(all: Campaigns, cluster: Cluster): Promise<void> {
    const now = settings();
    fail([...new Set(all.runs.map((run) => reasonOf(run.error!)))].join('\n'));
    const { status: code, text } = await ask('layout', checkQuestion(choices, isText(), cluster));
    if (code !== 0 && now === settings()) fail(withoutOptions(text));
  }

  /** Simulates the campaigns of the layouts so far; those that come meanwhile are simulated after that. */
  function askCampaigns(): void {
    const rows = found();
    if (rows.length === 0 || isSimulating) return;
    if (choices.data === '') return fail('Say how many tokens, such as 300B, or how many samples.');
    const question = campaignQuestion(choices, isText(), seeds, rows);
    if (question === campaignsAsked) return;
    campaignsAsked = question;
    isSimulating = true;
    const start = performance.now();
    const asked = settings();
    void ask('campaigns', question).then((got) => {
      isSimulating = false;
      if (asked === settings()) {
        fail(got.status === 0 ? '' : got.text.trim());
        if (got.status === 0) {
          const all = JSON.parse(got.text) as Campaigns;
          showResults(all);
          if (all.runs.every((run) => run.error)) void explain(all, rows[0]![0]);
        }
        report(`${counted(rows.length, 'campaign')} simulated in ${timeText((performance.now() - start) / 1000)}.`);
      }
      askCampaigns();
    });
  }

  /** @param done said when nothing is left to do */
  function report(done = ''): void {
    const gap = missing(choices, isModel);
    const all = clustersOf(choices);
    const known = all.filter((cluster) => layouts.has(key(cluster))).length;
    status.textContent = gap || (known < all.length ? `Searching layouts: ${known} of ${all.length} done.` : done);
    const isCurrent = campaignsAsked === campaignQuestion(choices, isText(), seeds, found());
    panel.dataset.shown = gap || known < all.length || done === '' || !isCurrent ? '' : fragmentOf(choices, before) || '#plan';
  }

  function update(): void {
    form.show(choices);
    const fragment = fragmentOf(choices, before);
    if (fragment || location.hash.startsWith('#plan:')) window.history.replaceState(null, '', fragment || '#plan');
    fail('');
    mark();
    report();
    if (missing(choices, isModel)) return;
    const wanted = new Set(clustersOf(choices).map(key));
    engine.keep(({ plan, text }) => plan !== 'layout' || wanted.has(text));
    for (const text of asked) if (!wanted.has(text)) asked.delete(text);
    for (const text of wanted) {
      if (layouts.has(text) || asked.has(text)) continue;
      asked.add(text);
      void ask('layout', text).then((got) => {
        layouts.set(text, got.status === 0 ? (JSON.parse(got.text) as FoundLayout) : { error: got.text });
        asked.delete(text);
        if (missing(choices, isModel) || !wantedNow().has(text)) return;
        report();
        if (got.status !== 0 && shown?.settings === settings()) showResults(shown.all);
        if (found().length === 0 && wantedNow().size === [...wantedNow()].filter((one) => layouts.has(one)).length) fail((layouts.get(text) as { error: string }).error.trim());
        askCampaigns();
      });
    }
    askCampaigns();
  }
  const wantedNow = (): Set<string> => new Set(clustersOf(choices).map(key));

  function change(changed: Partial<Choices>): void {
    choices = { ...choices, ...changed };
    campaignsAsked = '';
    update();
  }

  /** A config.json of the reader becomes a model of the page. */
  async function take(name: string, text: string): Promise<void> {
    const { status: code, text: model } = await ask('model', text);
    if (code !== 0) return fail(model.trim());
    const base = name.replace(/\.json$/i, '').replace(/[^A-Za-z0-9_.-]/g, '_').replace(/^[.]+/, '') || 'model';
    const free = base === 'config' ? 'my_model' : listed(base) ? `${base}-own` : base;
    own[engine.fileOf(free)] = model;
    layouts.clear();
    engine.keep(({ plan }) => plan !== 'layout'); // another file of this name may be searched
    asked.clear();
    form.addModel(free, Number(/^sequence: *(\d+)/m.exec(ownText(free) ?? '')?.[1] ?? 0));
    change({ model: free, sequence: '' });
  }

  const form = controls(data, change, (name, text) => void take(name, text));
  const reset = button('Reset', 'Take back all choices', () => change(before));
  const link = button('Copy link', 'Copy a link to this page with these choices', async () => {
    const isCopied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
    const words = [!isCopied && 'The address of this page is the link.', ownText(choices.model) !== undefined && `Whoever opens the link needs the file of “${choices.model}”, too.`].filter(Boolean);
    if (words.length > 0) status.textContent = words.join(' ');
  });
  const panel = section('plan', 'Plan', 'Choose a model, hardware and limits', form.element, h('div', { class: 'controls' }, h('span', { class: 'buttons' }, reset, link)), status, problem);
  window.addEventListener('hashchange', () => {
    const linked = choicesOf(location.hash, before);
    if (linked) change(linked);
  });
  form.show(choices);
  engine.ready.then(update, (error) => (status.textContent = `The engine cannot run in this browser: ${error instanceof Error ? error.message : error}. Use the program: gradway plan --help, or gradway ui`));
  return [title(data.title, 'Layouts, days and dollars of a training on different hardware, with failures'), panel, earlier, sentence, results];
}
