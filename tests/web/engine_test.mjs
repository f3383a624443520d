// SPDX-License-Identifier: Apache-2.0
// gradway.wasm answers what `gradway run --json` and the questions of `gradway plan` print, byte for byte:  node engine_test.mjs GRADWAY ENGINE
//
// Every shipped scenario, as it is and with overrides, in node; some of them and the times in headless Chromium.
// ENGINE       the engine of the program's pages, as web/engine.mjs packs it
// CHROMIUM     the browser; /usr/bin/chromium if not given
// Exit status: 0; 1 if a test fails; 77 if the engine was built from other sources than the program, which is said loudly.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(join(root, 'web', 'package.json'));
const [programFile, engineFile, only] = process.argv.slice(2);
const program = resolve(programFile); // the scenarios are run in a folder of the test's own
const packed = readFileSync(engineFile, 'utf8');
if (packed.includes('\n')) {
  console.error(`SKIPPED: the engine of pages was not tested: it was built from older sources than the program, of ${packed.split('\n')[0]}`);
  console.error('  hint: scripts/engine builds it');
  process.exit(77);
}

const work = mkdtempSync(join(tmpdir(), 'gradway-'));
process.on('exit', () => rmSync(work, { recursive: true }));

/** engine.ts as a script, in a format of esbuild's. */
function script(format) {
  const { outputFiles } = require('esbuild').buildSync({ entryPoints: [join(root, 'web/src/what_if/engine.ts')], bundle: true, write: false, format, globalName: 'engine' });
  return outputFiles[0].text;
}

/** The installed data, by the names that the engine knows. */
function dataFiles() {
  const files = {};
  const add = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) add(path);
      else if (entry.name.endsWith('.yaml')) files[`/${path}`] = readFileSync(join(root, path), 'utf8');
    }
  };
  ['platforms', 'models', 'scenarios', 'calibration/results'].forEach(add);
  return files;
}

/** What the program answers, started in an empty folder. */
function native(scenario, overrides, ...options) {
  return nativeBy([program], scenario, overrides, ...options);
}
/** @param command words before those of the program */
function nativeBy([command, ...words], scenario, overrides, ...options) {
  const set = Object.entries(overrides).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const { status, stdout, stderr } = spawnSync(command, [...words, 'run', scenario, '--json', ...options, ...set], { cwd: work, encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status, text: status === 0 ? stdout : stderr };
}
/** Whether the program cannot simulate it in the memory that an engine of 32 bits has, either. */
function needsMoreMemory(scenario, overrides) {
  return nativeBy(['prlimit', '--as=4294967296', program], scenario, overrides, '--engine', 'fluid').status !== 0;
}

const files = dataFiles();
const scenarios = Object.entries(files)
  .filter(([name, text]) => name.startsWith('/scenarios/') && !/^cases:/m.test(text))
  .map(([name]) => name.slice('/scenarios/'.length, -'.yaml'.length))
  .filter((name) => !only || name.startsWith(only));
/** The second and third change every prediction or are refused with a reason, the others are mistyped. */
const changes = [{}, { 'job.batch_per_gpu': '3' }, { 'job.gpus': '2', optimizer: 'adamw' }, { 'job.gpsu': '2', 'job.precision': 'fp31' }];

writeFileSync(join(work, 'engine.mjs'), script('esm'));
const { ask, compile, GivenFiles } = await import(pathToFileURL(join(work, 'engine.mjs')));
const engine = await compile(packed);
const given = new GivenFiles(files);
/** As a question to the engine. */
const question = (scenario, overrides, more) => ({ scenario, set: Object.entries(overrides), wanted: 'report', ...more });

const differing = [];
function compare(scenario, overrides, expected, found) {
  if (found.status === expected.status && found.text === expected.text) return;
  if (found.status === 3 && found.text.includes('there is not enough memory') && needsMoreMemory(scenario, overrides)) return;
  differing.push({ scenario, overrides, expected, found });
}

/** The document of the page and the figures have the same report, and the scenario as YAML is run by the program with the same result. */
async function comparePage(scenario, overrides, report) {
  const answers = ['page', 'figures'].map(async (wanted) => JSON.parse((await ask(engine, given, question(scenario, overrides, { wanted }))).text));
  const [page, figures] = await Promise.all(answers);
  assert.deepEqual(page.report, JSON.parse(report), scenario);
  assert.deepEqual(figures, { report: page.report, axes: figures.axes, yaml: page.yaml }, scenario);
  writeFileSync(join(work, 'changed.yaml'), page.yaml);
  const { status, text: again } = native('./changed.yaml', {});
  // A key of the file may have no effect beside what was typed; in a file, both are the user's.
  if (status === 2 && again.includes(' has no effect: ')) return;
  assert.equal(status, 0, `${scenario}: ${again}\n${page.yaml}`);
  assert.deepEqual(JSON.parse(again).metrics, page.report.metrics, scenario);
}

/** By status, and how long they took. */
function summary(answers) {
  const times = answers.map(({ time }) => time).sort((a, b) => a - b);
  const byStatus = {};
  for (const { status } of answers) byStatus[status] = (byStatus[status] ?? 0) + 1;
  return `${times.length} answers, by status ${JSON.stringify(byStatus)}, median ${times[times.length >> 1].toFixed(0)} ms, longest ${times.at(-1).toFixed(0)} ms`;
}

/** Trainings for which the planner asks: two frameworks, a model that cannot be distributed, a spot price, a mistake. */
const plans = [
  { model: 'gpt_124m', framework: 'pytorch', set: [['campaign.tokens', '10B'], ['campaign.terms', 'on_demand']], failures: 'llama3', deadline: '4 days', budget: '2k USD', platforms: ['aws-p5.48xlarge', 'aws-p4d.24xlarge'] },
  { model: 'llama2_7b', framework: 'megatron', set: [['job.sequence', '2048'], ['campaign.tokens', '10B'], ['campaign.terms', 'spot']], failures: 'rsc-1', deadline: '', budget: '', platforms: ['gcp-a3-megagpu-8g'] },
  { model: 'resnet50', framework: 'pytorch', set: [['campaign.samples', '90M']], failures: 'none', deadline: '1 h', budget: '', platforms: ['aws-g6e.48xlarge', 'aws-p4d.24xlarge'] },
  { model: 'resnet51', framework: 'pytorch', set: [], failures: 'none', deadline: '', budget: 'abc', platforms: ['aws-p4d.24xlarge'] },
];

/** The planner's questions in the order of the page: a layout of each cluster, then the campaigns with them, and a scenario. */
async function comparePlan({ platforms, ...plan }) {
  const answer = async (kind, clusters) => {
    const text = JSON.stringify({ global_batch: 0, seeds: 20, ...plan, clusters });
    const { status, stdout, stderr } = spawnSync(program, ['plan', `--answer=${kind}`, `--question=${text}`], { cwd: work, encoding: 'utf8' });
    const found = await ask(engine, given, { plan: kind, text, roots: [], own: {} });
    compare(`plan: ${kind} of ${plan.model}`, plan, { status, text: status === 0 ? stdout : stderr }, found);
    return found;
  };
  const clusters = [];
  for (const platform of platforms) {
    await answer('first-layout', [{ platform, gpus: 8, layout: [] }]);
    const { status, text } = await answer('layout', [{ platform, gpus: 8, layout: [] }]);
    clusters.push({ platform, gpus: 8, layout: status === 0 ? JSON.parse(text).layout : [] });
  }
  await answer('campaigns', clusters);
  await answer('scenario', clusters);
}

for (const plan of plans) await comparePlan(plan);
const config = readFileSync(join(root, 'tests/readers/data/hf-llama-7b.json'), 'utf8');
for (const text of [config, config.replace('"llama"', '"lama"').replace('LlamaForCausalLM', 'X'), '{', '[]']) {
  const { status, stdout, stderr } = spawnSync(program, ['plan', '--answer=model', `--question=${text}`], { cwd: work, encoding: 'utf8' });
  compare('plan: model', {}, { status, text: status === 0 ? stdout : stderr }, await ask(engine, given, { plan: 'model', text, roots: [], own: {} }));
}

const inNode = [];
for (const scenario of scenarios) {
  for (const overrides of changes) {
    const start = performance.now();
    const found = await ask(engine, given, question(scenario, overrides));
    inNode.push({ status: found.status, time: performance.now() - start });
    compare(scenario, overrides, native(scenario, overrides), found);
    if (found.status === 0) await comparePage(scenario, overrides, found.text);
  }
}
for (const scenario of ['article/g6e', 'sharded/llama2_7b', 'published/all-reduce', 'h200-4x/gpt_small'].filter((name) => scenarios.includes(name)))
  compare(scenario, { fit: 'true' }, native(scenario, {}, '--fit'), await ask(engine, given, question(scenario, {}, { fit: true })));
console.log(`${packed.length} bytes in a page; ${scenarios.length} scenarios`);
console.log(`node: ${summary(inNode)}`);

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (existsSync(chromium)) {
  // As strict as the policy of report.html, but for the script of this test.
  const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'";
  writeFileSync(join(work, 'page.html'), `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><script>${script('iife')}</script>`);
  const flags = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  const browser = await require('playwright-core').chromium.launch({ executablePath: chromium, headless: true, args: flags });
  const page = await (await browser.newContext({ offline: true })).newPage();
  await page.goto(pathToFileURL(join(work, 'page.html')).href);
  await page.evaluate(async ({ packed, files }) => Object.assign(window, { files: new engine.GivenFiles(files), module: await engine.compile(packed) }), { packed, files });
  const inChromium = [];
  for (const scenario of ['article/g6e', 'article/p4d', 'sharded/llama2_7b', 'loading/resnet50', 'h200-4x/gpt_small', 'scale/ddp-24']) {
    for (const overrides of changes) {
      const found = await page.evaluate(async (question) => {
        const start = performance.now();
        return { ...(await engine.ask(module, files, question)), time: performance.now() - start };
      }, question(scenario, overrides));
      inChromium.push(found);
      compare(scenario, overrides, native(scenario, overrides), found);
    }
  }
  await browser.close();
  console.log(`Chromium: ${summary(inChromium)}`);
} else {
  console.error(`SKIPPED in part: the engine was not tested in a browser: there is no ${chromium}`);
}

for (const { scenario, overrides, expected, found } of differing.slice(0, 20)) {
  const other = found.text.split('\n');
  const lines = expected.text.split('\n');
  const at = lines.findIndex((line, i) => line !== other[i]);
  console.log(`${scenario} ${JSON.stringify(overrides)}: status ${expected.status} and ${found.status}, line ${at + 1}\n  program ${lines[at]}\n  engine  ${other[at]}`);
}
assert.equal(differing.length, 0, `${differing.length} answers differ from the program's`);
