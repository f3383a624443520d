// SPDX-License-Identifier: Apache-2.0
// The planner: a training on several clusters side by side, with layouts, days, dollars and failures.
import { daysAgainstDollars } from '../campaigns/scatter';
import { meetsLimits, pointsTable } from '../campaigns/table';
import type { CampaignPoint } from '../campaigns/document';
import { mountCharts, mountChartsAfterText, section } from '../chart';
import { copied } from '../copied';
import { button, h } from '../dom';
import { bytesText, counted, known, nothing, numberText, percentText, rangeText, shareText, spanText, timeText, usdText } from '../format';
import { answer, title } from '../header';
import { cell, tableOf, type Table } from '../table';
import { shellWord } from '../what_if/changes';
import { Asker } from '../what_if/asker';
import type { Answer, Files, PlanQuestion } from '../what_if/engine';
import { whatIf } from '../what_if/panel';
import type { RunDocument } from '../document';
import { accuracy, closest } from './accuracy';
import { campaignQuestion, checkQuestion, choicesOf, clustersOf, fragmentOf, layoutQuestion, missing, spaced, type Cluster } from './choices';
import { controls } from './controls';
import type { Campaigns, Choices, FoundLayout, PlanDocument } from './document';
import { changesIn, extrasOf, linkOf, noExtras, packed, setOf, unpacked } from './link';
import { measurement } from './measurement';
import { Pool } from './pool';
import type { PlanEngine } from './turns';

/** Simulated runs of each campaign. */
const seeds = 100;
const mostWorkers = 4;
const noData = 'Say how many tokens, such as 300B, or how many samples.';
/** Clusters that the answer names besides the cheapest. */
const mostNamed = 2;

type Found = FoundLayout | { error: string };

const isFound = (one: Found | undefined): one is FoundLayout => one !== undefined && !('error' in one);

const isSearch = ({ plan }: PlanQuestion): boolean => plan.endsWith('layout');

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

const hasLimit = ({ limits }: Campaigns): boolean => known(limits.deadline_s) || known(limits.budget_usd);

/** The cluster that answers. */
function bestOf(all: Campaigns): number | undefined {
  const { best, cheapest, fastest, tied } = all;
  if (hasLimit(all)) return best ?? undefined;
  return cheapest ?? tied?.cheapest?.runs[0] ?? fastest ?? tied?.fastest?.runs[0];
}

/** What the chosen clusters answer, in one sentence. */
function sentenceOf(all: Campaigns): string {
  const { limits, tied } = all;
  const hasLimits = hasLimit(all);
  const figures = (run: CampaignPoint): string => `${spanText(run.estimate?.seconds.median)}${run.estimate?.usd ? ` and ${usdText(run.estimate.usd.median)}` : ''}`;
  const asked = [known(limits.deadline_s) && `within ${spanText(limits.deadline_s)}`, known(limits.budget_usd) && `for at most ${usdText(limits.budget_usd)}`].filter(Boolean).join(' and ');
  const shown = bestOf(all);
  if (shown === undefined) return hasLimits ? `No cluster trains it ${asked}.` : 'No cluster can train it.';
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
  let extras = extrasOf(location.hash);
  const own: Files = {};
  const layouts = new Map<string, Found>();
  const firstLayouts = new Map<string, FoundLayout>(); // of clusters whose search may go on
  const asked = new Set<string>();
  let campaignsAsked = ''; // the last question
  let finished = { question: '', text: '' }; // the last one that was answered
  const carried = new Map<string, string>(); // models of the reader, as links have them
  let shown: { settings: string; all: Campaigns } | undefined; // in the results
  let isSimulating = false;
  const engine = makeEngine();

  const status = h('p', { class: 'status', role: 'status' }, 'Starting the engine …');
  const problem = h('pre', { class: 'code problem', role: 'alert', hidden: true });
  const sentence = h('div', { id: 'plan-answer' });
  const results = h('div', { id: 'plan-results' });
  const earlier = h('p', { class: 'box', id: 'plan-earlier', hidden: true }, 'The answers below are those of earlier settings.');
  const details = h('div', { id: 'plan-details', hidden: true });
  const other = h('div', { id: 'plan-what-if' });

  const ask = (plan: PlanQuestion['plan'], text: string): Promise<Answer> => {
    const known = data.site?.answers[`${plan} ${text}`];
    return known === undefined ? engine.ask({ plan, text, roots: data.plan.roots, own }) : Promise.resolve({ status: 0, text: known });
  };
  const listed = (name: string) => data.plan.models.find((one) => one.name === name);
  const ownText = (name: string): string | undefined => own[engine.fileOf(name)];
  const isModel = (name: string): boolean => listed(name) !== undefined || ownText(name) !== undefined;
  /** Models of text say how many tokens a sample has. */
  const isText = (): boolean => /^sequence:/m.test(ownText(choices.model) ?? '') || (listed(choices.model)?.tokens_per_sample ?? Number(ownText(choices.model) === undefined)) > 0;
  const settings = (): string => JSON.stringify([choices, own]);
  const key = (cluster: Cluster): string => layoutQuestion(choices, cluster);
  const found = (): [Cluster, FoundLayout][] =>
    clustersOf(choices).flatMap((cluster): [Cluster, FoundLayout][] => {
      const one = layouts.get(key(cluster)) ?? firstLayouts.get(key(cluster));
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

  /** Keeps the choices in the address. */
  function keepLink(): void {
    extras = { ...extras, own: carried.get(choices.model) ?? '' };
    const fragment = linkOf(choices, before, extras);
    if (fragment || location.hash.startsWith('#plan:')) window.history.replaceState(null, '', fragment || '#plan');
  }

  /** Other settings of one cluster, below the answers. */
  async function showWhatIf(cluster: Cluster, layout: FoundLayout): Promise<void> {
    const asked = settings();
    const fail = (text: string): void => other.replaceChildren(h('pre', { class: 'code problem', role: 'alert' }, text.trim()));
    const { status: code, text: yaml } = await ask('scenario', campaignQuestion(choices, isText(), seeds, [[cluster, layout]]));
    if (asked !== settings()) return;
    if (code !== 0) return fail(yaml);
    const asker = new Asker(engine.answering(() => ({ ...own, 'plan.yaml': yaml })));
    const given = { scenario: 'plan.yaml', set: [] as [string, string][], roots: data.plan.roots, command: 'gradway run plan.yaml', yaml };
    asker.ask({ ...given, wanted: 'figures' }, ({ status, text }) => {
      if (asked !== settings()) return;
      if (status !== 0) return fail(text);
      const name = `${cluster.platform} ${cluster.gpus}`;
      if (extras.what_if !== name) extras = { ...extras, what_if: name, set: '' };
      const kept = { read: () => changesIn(extras), write: (changes: Parameters<typeof setOf>[0]) => {
        extras = { ...extras, set: setOf(changes) };
        keepLink();
      } };
      other.replaceChildren(h('p', { class: 'hint' }, `Of ${clusterName(cluster)}: ${layout.words}`), whatIf(JSON.parse(text) as RunDocument, given, { asker, described: engine.described }, null, kept));
      mountCharts();
    });
  }

  async function showDetails(cluster: Cluster, layout: FoundLayout): Promise<void> {
    const asked = settings();
    const { status: code, text } = await ask('scenario', campaignQuestion(choices, isText(), seeds, [[cluster, layout]]));
    if (asked !== settings()) return;
    const ownModel = ownText(choices.model);
    const limits = (['deadline', 'budget'] as const).filter((limit) => choices[limit] !== '').map((limit) => ` --${limit} ${shellWord(choices[limit])}`);
    details.hidden = false;
    if (code === 0) measured.fill(`${cluster.platform}-${cluster.gpus}`, text);
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
    if (shown?.settings !== settings()) {
      details.hidden = true;
      other.replaceChildren();
    }
    shown = { settings: settings(), all };
    mark();
    sentence.replaceChildren(...(hasRun ? [answer(sentenceOf(all))] : []));
    const failed = clustersOf(choices).flatMap((cluster) => {
      const one = layouts.get(key(cluster));
      return one && 'error' in one ? [h('li', {}, `${clusterName(cluster)}: ${reasonOf(one.error)}`)] : [];
    });
    const buttons = (name: string, does: string, show: (cluster: Cluster, layout: FoundLayout) => Promise<void>): HTMLElement =>
      h('p', { class: 'controls' }, ...rows.map(([cluster, layout]) => button(`${name} ${clusterName(cluster)}`, `${does} ${clusterName(cluster)}`, () => void show(cluster, layout))));
    results.replaceChildren(
      ...[
        hasRun ? daysAgainstDollars(all) : null,
        hasRun ? section('runs', 'Table', 'Each cluster with failures, checkpoints and restarts', tableOf(pointsTable(all))) : null,
        section('layouts', 'Layouts', 'The layout of each cluster that certainly fits', tableOf(layoutsTable(rows)), buttons('What if:', 'Change settings of', showWhatIf), buttons('Scenario for', 'Show the scenario for', showDetails), details),
        other,
        hasRun ? howTrue(all) : null,
        failed.length > 0 ? section('failed', 'Not possible', counted(failed.length, 'cluster'), h('ul', {}, ...failed)) : null,
      ].filter((part): part is HTMLElement => part !== null),
    );
    mountChartsAfterText();
    showLinked();
  }

  /** The what-if of a link, once the layout of its cluster is known. */
  function showLinked(): void {
    const linked = found().find(([cluster]) => `${cluster.platform} ${cluster.gpus}` === extras.what_if && layouts.has(key(cluster)));
    if (linked && other.childElementCount === 0) void showWhatIf(...linked);
  }

  /** The published rows closest to the cluster of the answer. */
  function howTrue(all: Campaigns): HTMLElement | null {
    const best = bestOf(all);
    if (!data.site || best === undefined) return null;
    const run = all.runs[best]!;
    const gpu = data.plan.platforms.find(({ name }) => name === run.set.platform)?.gpu ?? null;
    return closest(data.site.accuracy, { gpu, gpus: Number(run.set['job.gpus']), parameters: data.site.parameters[choices.model], framework: choices.framework }, clusterText(run));
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
    if (choices.data === '') return fail(noData);
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
        const isGiven = data.site?.answers[`campaigns ${question}`] !== undefined;
        report(`${counted(rows.length, 'campaign')} simulated${isGiven ? ' by the program that wrote this page' : ` in ${timeText((performance.now() - start) / 1000)}`}.`);
      }
      askCampaigns();
    });
  }

  /** Says what is being done. @param done said when the last question is answered */
  function report(done = ''): void {
    if (done) finished = { question: campaignsAsked, text: done };
    const gap = missing(choices, isModel);
    const all = clustersOf(choices);
    const known = all.filter((cluster) => layouts.has(key(cluster))).length;
    const rows = found();
    const isFinished = finished.question !== '' && finished.question === campaignQuestion(choices, isText(), seeds, rows);
    const work = known < all.length ? `${rows.length > known ? 'First layouts are below. ' : ''}Searching all layouts: ${known} of ${all.length} clusters done.` : rows.length === 0 ? 'No cluster can train it.' : choices.data === '' ? noData : 'Simulating …';
    status.textContent = gap || (known === all.length && isFinished ? finished.text : work);
    panel.dataset.shown = gap || known < all.length || !isFinished ? '' : fragmentOf(choices, before) || '#plan';
  }

  function update(): void {
    form.show(choices);
    keepLink();
    fail('');
    mark();
    report();
    if (missing(choices, isModel)) return;
    const wanted = new Set(clustersOf(choices).map(key));
    for (const text of wanted) {
      const known = data.site?.answers[`layout ${text}`];
      if (known !== undefined && !layouts.has(text)) layouts.set(text, JSON.parse(known) as FoundLayout);
    }
    engine.keep((question) => !isSearch(question) || wanted.has(question.text));
    for (const text of asked) if (!wanted.has(text)) asked.delete(text);
    for (const text of wanted) {
      if (layouts.has(text) || asked.has(text)) continue;
      asked.add(text);
      void search(text);
    }
    askCampaigns();
  }

  /** Finds the layout of a cluster: first one without model-parallel ranks, if such a layout fits, then that of `gradway plan`. */
  async function search(text: string): Promise<void> {
    const first = firstLayouts.has(text) ? undefined : await ask('first-layout', text);
    if (first?.status === 0) {
      firstLayouts.set(text, JSON.parse(first.text) as FoundLayout);
      if (wantedNow().has(text)) askCampaigns();
    }
    const { status: code, text: answer } = await ask('layout', text);
    take(text, code === 0 ? (JSON.parse(answer) as FoundLayout) : { error: answer });
  }

  function take(text: string, one: Found): void {
    layouts.set(text, one);
    asked.delete(text);
    if (missing(choices, isModel) || !wantedNow().has(text)) return;
    report();
    if (shown?.settings === settings()) {
      if (isFound(one)) showLinked();
      else showResults(shown.all);
    }
    if (found().length === 0 && !isFound(one) && [...wantedNow()].every((other) => layouts.has(other))) fail(one.error.trim());
    askCampaigns();
  }
  const wantedNow = (): Set<string> => new Set(clustersOf(choices).map(key));

  function change(changed: Partial<Choices>): void {
    choices = { ...choices, ...changed };
    campaignsAsked = '';
    finished = { question: '', text: '' };
    update();
  }

  /** A config.json of the reader becomes a model of the page. */
  async function addModel(name: string, text: string): Promise<void> {
    const { status: code, text: model } = await ask('model', text);
    if (code !== 0) return fail(model.trim());
    const base = name.replace(/\.json$/i, '').replace(/[^A-Za-z0-9_.-]/g, '_').replace(/^[.]+/, '') || 'model';
    const free = base === 'config' ? 'my_model' : listed(base) ? `${base}-own` : base;
    carried.set(free, await packed(model));
    addOwn(free, model);
    layouts.clear();
    firstLayouts.clear();
    engine.keep((question) => !isSearch(question)); // another file of this name may be searched
    asked.clear();
    change({ model: free, sequence: '' });
  }

  function addOwn(name: string, model: string): void {
    own[engine.fileOf(name)] = model;
    form.addModel(name, Number(/^sequence: *(\d+)/m.exec(model)?.[1] ?? 0));
  }

  /** Takes over the link of the page, with the model that it carries. */
  async function follow(linked: Choices): Promise<void> {
    const { own: text, ...others } = extrasOf(location.hash);
    const model = text && !listed(linked.model) && /^[\w-][\w.-]*$/.test(linked.model) ? await unpacked(text) : null;
    if (model !== null) {
      addOwn(linked.model, model);
      carried.set(linked.model, text);
    }
    extras = { ...others, own: '' };
    change(linked);
  }

  const form = controls(data, change, (name, text) => void addModel(name, text));
  const reset = button('Reset', 'Take back all choices', () => {
    extras = noExtras;
    change(before);
  });
  const link = button('Copy link', 'Copy a link to this page with these choices', async () => {
    const isCopied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
    if (!isCopied) status.textContent = 'The address of this page is the link.';
  });
  const panel = section('plan', 'Plan', 'Choose a model, hardware and limits', form.element, h('div', { class: 'controls' }, h('span', { class: 'buttons' }, reset, link)), status, problem);
  window.addEventListener('hashchange', () => {
    const linked = choicesOf(location.hash, before);
    if (linked && location.hash !== linkOf(choices, before, extras)) void follow(linked);
  });
  const measured = measurement((files) => engine.answering(files), data.plan.roots, () => own);
  const older = h('p', { class: 'box warnings', hidden: true });
  void engine.older.then((date) => {
    older.hidden = date === '';
    older.textContent = `The engine in this page is of ${date}; the program that wrote the page has changed since, so that its own answers may differ.`;
  });
  form.show(choices);
  if (extras.own) void follow(choices);
  else if (data.site) update();
  engine.ready.then(update, (error) => (status.textContent = `The engine cannot run in this browser: ${error instanceof Error ? error.message : error}. Use the program: gradway plan --help, or gradway ui`));
  return [title(data.title, 'Layouts, days and dollars of a training on different hardware, with failures'), older, panel, earlier, sentence, results, ...(data.site ? [accuracy(data.site.accuracy)] : []), measured.element];
}
