// SPDX-License-Identifier: Apache-2.0
// The page of `gradway ui`, served by the real program: the list, own files, other settings, sweeps, failures, saved files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { open, shot } from './browser.mjs';
import { served } from './served.mjs';

const program = resolve(process.env.GRADWAY);
const work = mkdtempSync(join(tmpdir(), 'gradway-'));
const scenario = readFileSync(new URL('../../scenarios/article/g6e.yaml', import.meta.url), 'utf8');
writeFileSync(join(work, 'mine.yaml'), scenario);

let server;
before(async () => (server = await served(program, [], { cwd: work })));
after(async () => {
  assert.equal(await server.end(), 0);
  assert.deepEqual(readdirSync(work), ['mine.yaml'], 'nothing is written to disk');
  rmSync(work, { recursive: true });
});

const gradway = (...words) => {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: work, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
};

/** A test of the page at an address below the server's. */
const checks = (what, address, run, view) =>
  test(what, async () => {
    const opened = await open({ url: server.url }, view);
    try {
      if (address) await opened.page.goto(server.url + address);
      await run(opened.page, opened.wrongs);
      assert.deepEqual(opened.wrongs, []);
      assert.ok((await opened.page.evaluate(() => document.documentElement.scrollWidth)) <= (view?.width ?? 1280), 'no scrolling sideways');
    } finally {
      await opened.close();
    }
  });

const panel = (page) => page.locator('#what-if');
const answered = (page, shown) => page.waitForFunction((wanted) => document.getElementById('what-if')?.dataset.shown === wanted && !document.querySelector('#what-if.busy'), shown, { timeout: 60000 });
const figure = async (page, name) => Number(await panel(page).locator(`[data-figure="${name}"] td:nth-of-type(2) .value`).getAttribute('data-value'));

async function saved(page, name) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  return readFileSync(await (await download).path(), 'utf8');
}

checks('the list is filtered by typing, and Enter opens the first', '', async (page) => {
  await page.locator('#scenarios a').first().waitFor();
  assert.equal(await page.getByRole('link', { name: 'mine.yaml' }).count(), 1, 'a file of the folder');
  await page.waitForFunction(() => [...document.querySelectorAll('#scenarios li')].some((item) => /8 GPUs of aws-g6e/.test(item.textContent)));
  await shot(page, 'ui-start');
  await page.getByLabel('Filter by words').fill('article p4d');
  const links = await page.locator('#scenarios a:visible').allTextContents();
  assert.ok(links.length > 0 && links.every((name) => name.includes('article')), links.join());
  assert.match(await page.locator('#scenarios [role=status]').textContent(), /^\d+ of \d+ scenarios$/);
  await page.getByLabel('Filter by words').fill('article/p4d');
  await page.keyboard.press('Enter');
  await answered(page, '');
  assert.match(page.url(), /\?scenario=article%2Fp4d$/);
  await page.goBack();
  await page.locator('#scenarios a').first().waitFor();
});

checks('a scenario opens with other settings, which the program answers', '?scenario=article%2Fg6e', async (page) => {
  await answered(page, '');
  await shot(page, 'ui-run');
  const control = panel(page).locator('[data-key="job.gpus"]');
  await control.focus();
  await page.keyboard.press('ArrowLeft');
  await answered(page, '#set:job.gpus=4');
  const report = JSON.parse(gradway('run', 'article/g6e', '--set', 'job.gpus=4', '--json'));
  assert.equal(await figure(page, 'Step time'), report.metrics.step_time_s);
  assert.equal(await page.getByRole('region', { name: 'The command for this run' }).textContent(), 'gradway run article/g6e --set job.gpus=4');
  assert.equal(await saved(page, 'Save the report of this run'), gradway('run', 'article/g6e', '--set', 'job.gpus=4', '--json'));
  writeFileSync(join(work, 'changed.yaml'), await saved(page, 'Save the scenario with the changes'));
  assert.deepEqual(JSON.parse(gradway('run', './changed.yaml', '--json')).metrics, report.metrics);
  rmSync(join(work, 'changed.yaml'));
  await page.keyboard.press('Escape');
  await panel(page).getByRole('button', { name: 'Undo' }).click();
  await answered(page, '');
  await page.reload();
  await answered(page, '');
});

checks('a saved report.html is the file of a run, which asks nobody', '?scenario=article%2Fg6e', async (page) => {
  await answered(page, '');
  const text = await saved(page, 'Save the page of this run');
  assert.doesNotMatch(text.slice(0, 2000), /connect-src/);
  const file = join(tmpdir(), `gradway-ui-${process.pid}.html`);
  writeFileSync(file, text);
  const report = await open({ url: `file://${file}` });
  assert.match(await report.page.locator('#answer').textContent(), /^A step takes /);
  assert.deepEqual(report.wrongs, []);
  await report.close();
  rmSync(file);
});

checks('what the program refuses is said in the page, which stays usable', '?scenario=mine.yaml', async (page) => {
  await answered(page, '');
  await panel(page).getByLabel('Another key').fill('job.precison');
  await panel(page).getByLabel('Value of the other key').fill('bf16');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('#what-if .problem').hidden);
  assert.match(await panel(page).locator('.problem').textContent(), /error: unknown key 'job\.precison'[^]*hint: did you mean 'job\.precision'/);
  await panel(page).getByRole('button', { name: 'Take back all changes' }).click();
  await answered(page, '');
  assert.ok(await panel(page).locator('.problem').isHidden());
});

checks('own files stay in memory, and a corrected one is opened', '', async (page) => {
  const file = (name, text) => ({ name, mimeType: 'application/yaml', buffer: Buffer.from(text) });
  const own = scenario.replace(/^model: .*/m, 'model: dropped').replace(/^(anchor|input):[^]*?(?=^\w)/gm, '');
  await page.locator('input[type=file]').setInputFiles([file('own.yaml', own)]);
  await page.locator('pre.problem').waitFor();
  assert.match(await page.locator('pre.problem').textContent(), /^own\.yaml:\d+:\d+: error: unknown model 'dropped'/);
  await shot(page, 'ui-problem');
  const model = readFileSync(new URL('../../models/ddp-24.yaml', import.meta.url), 'utf8');
  await page.locator('input[type=file]').setInputFiles([file('own.yaml', own), file('dropped.yaml', model)]);
  await answered(page, '');
  assert.match(await page.locator('header.top .what').textContent(), /^dropped/);
  await page.getByRole('link', { name: 'gradway ui' }).click();
  assert.equal(await page.getByRole('link', { name: 'own.yaml' }).count(), 1);
  assert.match(await page.getByLabel('Files that scenarios may name').textContent(), /dropped\.yaml/);
  await page.goto(`${server.url}?file=own.yaml`);
  await page.getByText('which is empty after it was loaded again').waitFor();
});

checks('files can be dropped', '', async (page) => {
  const transfer = await page.evaluateHandle((text) => {
    const all = new DataTransfer();
    all.items.add(new File([text], 'dropped-here.yaml', { type: 'application/yaml' }));
    return all;
  }, scenario);
  for (const event of ['dragover', 'drop']) await page.dispatchEvent('body', event, { dataTransfer: transfer });
  await answered(page, '');
  assert.match(page.url(), /\?file=dropped-here\.yaml$/);
});

checks('a sweep of two keys, from the form to the page, its command and its rows', '?scenario=article%2Fg6e', async (page) => {
  await answered(page, '');
  await panel(page).locator('[data-exact="job.batch_per_gpu"]').fill('48');
  await page.keyboard.press('Enter');
  await answered(page, '#set:job.batch_per_gpu=48');
  await page.getByLabel('First key', { exact: true }).fill('job.gpus');
  await page.getByLabel('Values of the first key').fill('2,4,8');
  await page.getByLabel('Second key', { exact: true }).fill('strategy.comm_hook');
  await page.getByLabel('Values of the second key').fill('none,bf16');
  await page.keyboard.press('Enter');
  await page.locator('#points').waitFor();
  const words = ['sweep', 'article/g6e', '--set', 'job.batch_per_gpu=48', '--vary', 'job.gpus=2,4,8', '--vary', 'strategy.comm_hook=none,bf16'];
  assert.equal(await page.getByRole('region', { name: 'The command for this sweep' }).textContent(), `gradway ${words.join(' ')}`);
  assert.equal(await saved(page, 'Save one row for each point'), gradway(...words, '--csv'));
  assert.equal(await page.locator('[data-tile="Points"] .value').getAttribute('data-value'), '6');
  await shot(page, 'ui-sweep');
  await page.getByLabel('First key', { exact: true }).fill('job.gpus');
  await page.getByLabel('Values of the first key').fill('4..2');
  await page.getByRole('button', { name: 'Sweep', exact: true }).click();
  await page.locator('pre.problem').waitFor();
  assert.match(await page.locator('pre.problem').textContent(), /error: .*job\.gpus/);
});

checks('the planner is reached from the list, and the program answers it', '', async (page) => {
  await page.getByRole('link', { name: 'layouts, days, dollars and failures' }).click();
  const plan = page.locator('#plan');
  await plan.getByLabel('Model').selectOption('gpt_124m');
  assert.match(page.url(), /\?plan(#|$)/);
  await plan.getByLabel('Tokens, or samples').fill('1B');
  await plan.getByLabel('GPUs', { exact: true }).fill('8');
  await plan.locator('[data-platform="aws-p4d.24xlarge"]').check();
  const answered = () => page.waitForFunction(() => /platforms=aws-p4d/.test(document.getElementById('plan')?.dataset.shown ?? ''), undefined, { timeout: 120000 });
  const row = () => page.locator('#runs tbody tr [data-value]').evaluateAll((all) => all.map((one) => Number(one.dataset.value)));
  await answered();
  const { estimate } = JSON.parse(gradway('plan', '--model', 'gpt_124m', '--tokens', '1B', '--gpus', '8', '--platforms', 'aws-p4d.24xlarge', '--seeds', '100', '--json')).runs[0];
  const shown = await row();
  for (const value of [estimate.seconds.median, estimate.seconds.low, estimate.usd.median, estimate.usd.low]) assert.ok(shown.includes(value), `${value} of ${shown}`);
  await shot(page, 'ui-plan');
  await page.reload();
  await answered();
  assert.deepEqual(await row(), shown, 'the address has all choices');
});

checks('long work shows how far it is, and can be cancelled', `?scenario=h200-4x%2Fgpt_small&vary=${encodeURIComponent('job.batch_per_gpu=1..1000')}&vary=steps%3D20..119`, async (page) => {
  await page.waitForFunction(() => /^point [1-9]\d* of 100000/.test(document.querySelector('.working .hint')?.textContent ?? ''));
  assert.notEqual(await page.locator('.working progress').getAttribute('value'), null, 'the share is known');
  await shot(page, 'ui-working');
  await page.getByRole('button', { name: 'Cancel the simulation' }).click();
  await answered(page, '');
  assert.match(page.url(), /\?scenario=h200-4x%2Fgpt_small$/);
});

for (const [name, address] of [['start', ''], ['run', '?scenario=article%2Fg6e'], ['sweep', '?scenario=article%2Fg6e&vary=job.gpus%3D2%2C4%2C8']])
  checks(`${name} on a phone, dark`, address, async (page) => {
    await page.locator({ start: '#scenarios', run: '#save', sweep: '#points' }[name]).waitFor();
    if (name === 'run') await answered(page, '');
    await shot(page, `ui-${name}-390-dark`);
  }, { width: 390, theme: 'dark', touch: true });

test('the scenario of the command line opens at once; a server that has ended is missed kindly', async () => {
  const own = await served(program, ['mine.yaml'], { cwd: work });
  const opened = await open({ url: own.url });
  const { page } = opened;
  await answered(page, '');
  assert.match(page.url(), /\?scenario=mine\.yaml$/);
  assert.equal(await own.end(), 0);
  await panel(page).locator('[data-exact="job.gpus"]').fill('2');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('#what-if .problem').hidden);
  assert.match(await panel(page).locator('.problem').textContent(), /^The program that serves this page has ended\. Start it again:\n\ngradway ui mine\.yaml\n/);
  await opened.close();
});
