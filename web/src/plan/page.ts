// SPDX-License-Identifier: Apache-2.0
// The planner: a training on several clusters side by side, with layouts, days, dollars and failures.
import { daysAgainstDollars } from '../campaigns/scatter';
import { meetsLimits, pointsTable } from '../campaigns/table';
import type { CampaignPoint } from '../campaigns/document';
import { mountCharts, section } from '../chart';
import { copied } from '../copied';
import { button, h } from '../dom';
import { bytesText, counted, known, nothing, numberText, percentText, rangeText, spanText, timeText, usdText } from '../format';
import { answer, title } from '../header';
import { cell, tableOf, type Table } from '../table';
import type { Answer, Files, PlanQuestion } from '../what_if/engine';
import { campaignQuestion, choicesOf, clustersOf, fragmentOf, layoutQuestion, missing, type Cluster } from './choices';
import { controls } from './controls';
import type { Campaigns, Choices, FoundLayout, PlanDocument } from './document';
import { Pool, type PlanEngine } from './pool';

/** Simulated runs of each campaign. */
const seeds = 100;
const mostWorkers = 4;
/** Clusters that the answer names besides the cheapest. */
const mostNamed = 2;

type Found = FoundLayout | { error: string };

const isFound = (one: Found | undefined): one is FoundLayout => one !== undefined && !('error' in one);

/** The reason of a failure, without "error:" and the place. */
const reasonOf = (text: string): string => text.trim().replace(/^error: /, '');

const clusterText = ({ set }: CampaignPoint): string => `${set.platform} with ${counted(Number(set['job.gpus']), 'GPU')}`;

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
  const word = run.estimate?.usd ? 'cheapest' : 'fastest';
  const tiedText = others.length > mostNamed ? counted(others.length, 'other cluster') : others.map(clusterText).join(' and ');
  return `The ${word}${hasLimits ? ` ${asked}` : ''} is ${clusterText(run)}: ${figures(run)}${others.length > 0 ? `, tied in cost with ${tiedText}` : ''}.`;
}

/** The layouts of the clusters. */
function layoutsTable(rows: [Cluster, FoundLayout][]): Table {
  return {
    caption: 'The layout of each cluster',
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
  const before = data.plan.choices;
  let choices = choicesOf(location.hash, before) ?? before;
  const own: Files = {};
  const ownModels = new Map<string, string>(); // YAML by name
  const layouts = new Map<string, Found>();
  const asked = new Set<string>();
  let campaignsAsked = ''; // the last question
  let isSimulating = false;
  const engine = makeEngine();

  const status = h('p', { class: 'status', role: 'status' }, 'Starting the engine …');
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const sentence = h('div', { id: 'plan-answer' });
  const results = h('div', { id: 'plan-results' });
  const yaml = copied('The scenario of this cluster: save it as plan.yaml');
  const modelYaml = copied('The model: save it in the folder models beside plan.yaml');
  const command = copied('The command that simulates it in detail');
  const details = h('div', { id: 'plan-details', hidden: true }, h('p', { class: 'hint' }), yaml.element, modelYaml.element, command.element);

  const ask = (plan: PlanQuestion['plan'], text: string): Promise<Answer> => engine.ask({ plan, text, roots: data.plan.roots, own });
  /** Text models have a vocabulary. */
  const isText = (): boolean => data.plan.models.find(({ name }) => name === choices.model)?.is_text ?? /^vocabulary:/m.test(ownModels.get(choices.model) ?? 'vocabulary:');
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

  /** @param why there is no plan; '': another part of the page says it */
  function showNoPlan(why: string): void {
    fail(why);
    sentence.replaceChildren();
    results.replaceChildren();
  }

  /** Dims what belongs to earlier choices. */
  function dim(isEarlier: boolean): void {
    for (const part of [sentence, results]) part.classList.toggle('earlier', isEarlier);
  }

  async function showDetails(cluster: Cluster, layout: FoundLayout): Promise<void> {
    const { status: code, text } = await ask('scenario', campaignQuestion(choices, isText(), seeds, [[cluster, layout]]));
    details.hidden = false;
    details.querySelector('.hint')!.textContent = `${cluster.platform}, ${cluster.gpus} GPUs: ${layout.words}`;
    yaml.show(text);
    const model = ownModels.get(choices.model);
    modelYaml.element.hidden = model === undefined;
    if (model !== undefined) modelYaml.show(`# models/${choices.model}.yaml\n${model}`);
    command.show(code === 0 ? `gradway campaign plan.yaml --seeds ${seeds}${choices.deadline ? ` --deadline '${choices.deadline}'` : ''}${choices.budget ? ` --budget '${choices.budget}'` : ''} --out result` : '');
    details.scrollIntoView({ block: 'nearest' });
  }

  function showResults(all: Campaigns): void {
    const rows = found();
    dim(false);
    sentence.replaceChildren(...(all.runs.every((run) => run.error) ? [] : [answer(sentenceOf(all))]));
    const failed = clustersOf(choices).flatMap((cluster) => {
      const one = layouts.get(key(cluster));
      return one && 'error' in one ? [h('li', {}, `${cluster.platform}, ${counted(cluster.gpus, 'GPU')}: ${reasonOf(one.error)}`)] : [];
    });
    const chart = daysAgainstDollars(all);
    results.replaceChildren(
      ...[
        chart,
        section('runs', 'Table', 'Each cluster with failures, checkpoints and restarts', tableOf(pointsTable(all))),
        section('layouts', 'Layouts', 'The layout of each cluster that certainly fits', tableOf(layoutsTable(rows)), h('p', { class: 'controls' }, ...rows.map(([cluster, layout]) => button(`Scenario for ${cluster.platform}, ${cluster.gpus} GPUs`, `Show the scenario for ${cluster.platform}, ${cluster.gpus} GPUs`, () => void showDetails(cluster, layout)))), details),
        failed.length > 0 ? section('failed', 'Not possible', counted(failed.length, 'cluster'), h('ul', {}, ...failed)) : null,
      ].filter((part): part is HTMLElement => part !== null),
    );
    mountCharts();
  }

  /** Simulates the campaigns of the layouts so far; those that come meanwhile are simulated after that. */
  function askCampaigns(): void {
    const rows = found();
    if (rows.length === 0 || isSimulating) return;
    if (choices.data === '') return showNoPlan('Say how many tokens, such as 300B, or how many samples.');
    const question = campaignQuestion(choices, isText(), seeds, rows);
    if (question === campaignsAsked) return;
    campaignsAsked = question;
    isSimulating = true;
    const start = performance.now();
    void ask('campaigns', question).then((got) => {
      isSimulating = false;
      const isNow = question === campaignQuestion(choices, isText(), seeds, rows);
      if (isNow && got.status !== 0) showNoPlan(got.text.trim());
      if (isNow && got.status === 0) {
        fail('');
        const all = JSON.parse(got.text) as Campaigns;
        const wrong = all.runs.every((run) => run.error) ? all.runs[0]?.error : undefined;
        if (wrong) fail(wrong.trim());
        showResults(all);
      }
      report(`${counted(rows.length, 'campaign')} simulated in ${timeText((performance.now() - start) / 1000)}.`);
      askCampaigns();
    });
  }

  /** @param done said when nothing is left to do */
  function report(done = ''): void {
    if (missing(choices)) return; // which the status says
    const all = clustersOf(choices);
    const known = all.filter((cluster) => layouts.has(key(cluster))).length;
    status.textContent = known < all.length ? `Searching layouts: ${known} of ${all.length} done.` : done;
    const isCurrent = campaignsAsked === campaignQuestion(choices, isText(), seeds, found());
    panel.dataset.shown = known < all.length || done === '' || !isCurrent ? '' : fragmentOf(choices, before) || '#plan';
  }

  function update(): void {
    form.show(choices);
    const fragment = fragmentOf(choices, before);
    if (fragment || location.hash.startsWith('#plan:')) window.history.replaceState(null, '', fragment || '#plan');
    const gap = missing(choices);
    fail('');
    dim(true);
    if (gap) {
      showNoPlan('');
      status.textContent = gap;
      panel.dataset.shown = '';
      return;
    }
    const wanted = new Set(clustersOf(choices).map(key));
    engine.keep(({ plan, text }) => plan !== 'layout' || wanted.has(text));
    for (const text of asked) if (!wanted.has(text)) asked.delete(text);
    for (const text of wanted) {
      if (layouts.has(text) || asked.has(text)) continue;
      asked.add(text);
      void ask('layout', text).then((got) => {
        layouts.set(text, got.status === 0 ? (JSON.parse(got.text) as FoundLayout) : { error: got.text });
        asked.delete(text);
        if (!wantedNow().has(text)) return;
        report();
        if (found().length === 0 && wantedNow().size === [...wantedNow()].filter((one) => layouts.has(one)).length) showNoPlan((layouts.get(text) as { error: string }).error.trim());
        askCampaigns();
      });
    }
    report();
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
    const wanted = base === 'config' ? 'my_model' : base;
    const free = data.plan.models.some((one) => one.name === wanted) ? `${wanted}_own` : wanted; // a link with the name of a shipped model means that
    ownModels.set(free, model);
    own[engine.fileOf(free)] = model;
    layouts.clear();
    engine.keep(({ plan }) => plan !== 'layout'); // another file of this name may be searched
    asked.clear();
    form.addModel(free);
    change({ model: free, sequence: '' });
  }

  const form = controls(data, change, (name, text) => void take(name, text));
  const reset = button('Reset', 'Take back all choices', () => change(before));
  const link = button('Copy link', 'Copy a link to this page with these choices', () => void navigator.clipboard.writeText(location.href).catch(() => (status.textContent = 'The address of this page is the link.')));
  const panel = section('plan', 'Plan', 'Choose a model, hardware and limits', form.element, h('div', { class: 'controls' }, h('span', { class: 'buttons' }, reset, link)), status, problem);
  window.addEventListener('hashchange', () => {
    const linked = choicesOf(location.hash, before);
    if (linked) change(linked);
  });
  form.show(choices);
  engine.ready.then(update, (error) => (status.textContent = `The engine cannot run in this browser: ${error instanceof Error ? error.message : error}. Use the program: gradway plan --help, or gradway ui`));
  return [title(data.title, 'Layouts, days and dollars of a training on different hardware, with failures'), panel, sentence, results];
}
