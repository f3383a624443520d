// SPDX-License-Identifier: Apache-2.0
// What-ifs of a page with the engine: answers, controls, links, and what a hostile file or link can do.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open, openedOnce, pages, shot } from './browser.mjs';

const work = mkdtempSync(join(tmpdir(), 'gradway-'));
after(() => rmSync(work, { recursive: true }));

/** The words of a command, as a shell splits them. */
function words(command) {
  const { status, stdout } = spawnSync('bash', ['-c', `set -- ${command}\nprintf '%s\\0' "$@"`], { cwd: work, encoding: 'utf8' });
  assert.equal(status, 0, command);
  return stdout.split('\0').slice(0, -1);
}

/** What the program answers to a command that a page shows. @param folder in which the page was written */
function native(command, folder = work) {
  const [name, ...rest] = words(command);
  assert.equal(name, 'gradway');
  const { status, stdout, stderr } = spawnSync(process.env.GRADWAY, [...rest, '--json'], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const panel = (page) => page.locator('#what-if');
const control = (page, key) => panel(page).locator(`[data-key="${key}"]`);
const commandOf = (page) => page.getByRole('region', { name: 'The command for this run' }).textContent();

/** Waits until the panel shows the answer to these changes, as in the link. */
const answered = (page, shown) => page.waitForFunction((wanted) => document.getElementById('what-if').dataset.shown === wanted && !document.querySelector('#what-if.busy'), shown, { timeout: 30000 });

/** A figure after the changes. */
const figure = async (page, name) => Number(await panel(page).locator(`[data-figure="${name}"] td:nth-of-type(2) .value`).getAttribute('data-value'));

async function set(page, key, value) {
  await panel(page).locator(`[data-exact="${key}"]`).fill(value);
  await page.keyboard.press('Enter');
}

const withEngine = pages.filter(({ data }) => data.what_if);
// A file without any test would never end: its browser is closed after the last.
if (withEngine.length === 0) test('pages that simulate other settings', { skip: 'their engine was built from older sources than gradway' }, () => {});

for (const one of withEngine.filter(({ name }) => name.endsWith('what-if'))) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { metrics } = one.data.report;

    checks('the engine in the page predicts the run of the report', async (page) => {
      await answered(page, '');
      await panel(page).getByText('The engine of this page predicts the same step.').waitFor();
      assert.ok(await panel(page).locator('.problem').isHidden());
      assert.equal(await figure(page, 'Step time'), metrics.step_time_s);
      assert.equal(page.url(), one.url, 'an unchanged page has no fragment');
    });

    test('the page says if its engine predicts something else than the program did', async () => {
      const file = join(work, 'other.html');
      const step = `"step_time_s":${metrics.step_time_s}`;
      assert.ok(one.text.includes(step));
      writeFileSync(file, one.text.replaceAll(step, `"step_time_s":${metrics.step_time_s * 1.25}`));
      const { page, close } = await open({ ...one, url: pathToFileURL(file).href });
      await panel(page).locator('.problem').getByText('it was built from other sources than the program').waitFor();
      await close();
    });

    checks('a slider moved by the keyboard changes figures, charts, command, scenario and link', async (page) => {
      await control(page, 'job.gpus').focus();
      await page.keyboard.press('ArrowLeft');
      await answered(page, '#set:job.gpus=4');
      const found = native(await commandOf(page));
      assert.equal(found.scenario.job.gpus, 4);
      for (const [name, value] of [['Step time', found.metrics.step_time_s], ['Exposed communication', found.metrics.exposed_communication_s], ['Cost per million samples', found.metrics.cost_usd_per_million_samples]])
        assert.equal(await figure(page, name), value, name);
      assert.equal(await control(page, 'job.gpus').getAttribute('aria-valuetext'), '4');
      assert.match(await panel(page).locator('[role=status]').textContent(), /^A step takes .* instead of .*\(.* %\)/);
      assert.ok(page.url().endsWith('#set:job.gpus=4'));
      writeFileSync(join(work, 'changed.yaml'), await panel(page).locator('pre[aria-label*="YAML"]').textContent());
      assert.equal(native('gradway run ./changed.yaml').metrics.step_time_s, found.metrics.step_time_s);
    });

    checks('the charts below show the changed run, or that of the report', async (page) => {
      const choice = panel(page).getByLabel('Charts below show');
      const label = () => page.locator('#details #step .chart').getAttribute('aria-label');
      const another = (before) => page.waitForFunction((one) => document.querySelector('#details #step .chart').getAttribute('aria-label') !== one, before, { timeout: 30000 });
      await choice.selectOption('report');
      const original = await label();
      await choice.selectOption('changed');
      await another(original);
      await choice.selectOption('report');
      assert.equal(await label(), original);
      await choice.selectOption('changed');
      await another(original);
      await page.locator('#details #step .chart').focus();
      await page.keyboard.press('ArrowRight');
      await page.waitForFunction(() => document.querySelector('#details #step .tip')?.textContent.length > 3);
    });

    checks('undo, redo and reset, with buttons and keys', async (page) => {
      await set(page, 'job.batch_per_gpu', '48');
      await answered(page, '#set:job.gpus=4&job.batch_per_gpu=48');
      await panel(page).getByRole('button', { name: 'Undo' }).click();
      await answered(page, '#set:job.gpus=4');
      assert.equal(await panel(page).locator('[data-exact="job.batch_per_gpu"]').inputValue(), '32');
      await panel(page).getByRole('button', { name: 'Redo' }).click();
      await answered(page, '#set:job.gpus=4&job.batch_per_gpu=48');
      await control(page, 'job.gpus').focus();
      await page.keyboard.press('Control+z');
      await page.keyboard.press('Control+z');
      await answered(page, '');
      assert.equal(await figure(page, 'Step time'), metrics.step_time_s);
      await page.keyboard.press('Control+y');
      await answered(page, '#set:job.gpus=4');
      await panel(page).getByRole('button', { name: 'Take back the change of job.gpus' }).click();
      await answered(page, '');
      await panel(page).getByRole('button', { name: 'Undo' }).click();
      await answered(page, '#set:job.gpus=4');
      await panel(page).getByRole('button', { name: 'Take back all changes' }).click();
      await answered(page, '');
      assert.ok(await panel(page).getByRole('button', { name: 'Take back all changes' }).isDisabled());
    });

    checks('choices, bandwidths and any other key are answered as by the program', async (page) => {
      await control(page, 'strategy.comm_hook').selectOption('bf16');
      await set(page, 'faster.host_memory', '2');
      await panel(page).getByLabel('Another key').fill('job.compile');
      await panel(page).getByLabel('Value of the other key').fill('true');
      await page.keyboard.press('Enter');
      await answered(page, '#set:strategy.comm_hook=bf16&faster.host_memory=2&job.compile=true');
      assert.equal(await figure(page, 'Step time'), native(await commandOf(page)).metrics.step_time_s);
      await control(page, 'platform').selectOption('aws-p4d.24xlarge');
      await answered(page, '#set:strategy.comm_hook=bf16&faster.host_memory=2&job.compile=true&platform=aws-p4d.24xlarge');
      assert.equal(await figure(page, 'Step time'), native(await commandOf(page)).metrics.step_time_s);
      await shot(page, 'what-if-changed');
    });

    checks('another strategy drops the keys that it does not have', async (page) => {
      const choose = (key, value) => control(page, key).selectOption(value);
      const link = async (fragment) => {
        await page.evaluate((to) => (location.hash = to), fragment);
        await answered(page, fragment === '#set:' ? '' : fragment);
      };
      await link('#set:');
      assert.ok(!(await control(page, 'strategy.kind').locator('option').allTextContents()).includes('collective'));
      for (const kind of ['fsdp', 'fsdp1', 'zero', 'distributed_optimizer']) {
        await choose('strategy.kind', kind);
        await answered(page, `#set:strategy.kind=${kind}`);
        assert.equal(await figure(page, 'Step time'), native(await commandOf(page)).metrics.step_time_s, kind);
        assert.ok(await control(page, 'strategy.bucket_cap').isHidden());
      }
      await choose('strategy.kind', 'zero');
      await set(page, 'strategy.stage', '3');
      await answered(page, '#set:strategy.kind=zero&strategy.stage=3');
      await choose('strategy.kind', 'fsdp');
      await answered(page, '#set:strategy.kind=fsdp');
      await panel(page).getByRole('button', { name: 'Undo' }).click();
      await answered(page, '#set:strategy.kind=zero&strategy.stage=3');
      await link('#set:');
    });

    checks('NVLink can be taken away, and an error proposes what fits', async (page) => {
      await control(page, 'platform').selectOption('aws-p4d.24xlarge');
      await answered(page, '#set:platform=aws-p4d.24xlarge');
      const withNvlink = await figure(page, 'Step time');
      await control(page, 'faster.nvlink').first().selectOption('0');
      await answered(page, '#set:platform=aws-p4d.24xlarge&faster.nvlink=0');
      assert.ok((await figure(page, 'Step time')) > 1.5 * withNvlink);
      assert.equal(await figure(page, 'Step time'), native(await commandOf(page)).metrics.step_time_s);
      await panel(page).getByRole('button', { name: 'Take back all changes' }).click();
      await control(page, 'platform').selectOption('h200-4x');
      await panel(page).getByRole('button', { name: 'Set job.gpus to 4' }).click();
      await answered(page, '#set:platform=h200-4x&job.gpus=4');
      assert.equal(await panel(page).getByRole('button', { name: /^Set job.gpus/ }).count(), 0);
      await page.evaluate(() => (location.hash = '#set:job.gpus=2&strategy.kind=none'));
      await panel(page).getByRole('button', { name: 'Set strategy.kind to ddp' }).click();
      await answered(page, '#set:job.gpus=2');
      await panel(page).getByRole('button', { name: 'Take back all changes' }).click();
      await answered(page, '');
    });

    checks('the largest batch is that of --fit', async (page) => {
      await panel(page).getByRole('button', { name: 'Set the largest batch' }).click();
      const { largest_batch: largest, metrics: expected } = native(`${one.data.what_if.command} --fit`);
      await answered(page, `#set:job.batch_per_gpu=${largest.batch_per_gpu}`);
      assert.equal(await figure(page, 'Step time'), expected.step_time_s);
      await panel(page).getByRole('button', { name: 'Undo' }).click();
      await answered(page, '');
    });

    checks('the layout is offered along the axes that the model has', async (page) => {
      assert.ok(await control(page, 'parallel.pipeline').isVisible());
      assert.ok(await control(page, 'parallel.tensor').isHidden(), 'a vision transformer');
      assert.ok(await control(page, 'parallel.expert').isHidden());
    });

    checks('a link opens the page with its changes', async (page) => {
      await page.goto('about:blank');
      await page.goto(`${one.url}#set:job.gpus=2&job.batch_per_gpu=16`);
      await answered(page, '#set:job.gpus=2&job.batch_per_gpu=16');
      assert.equal(await figure(page, 'Step time'), native(await commandOf(page)).metrics.step_time_s);
      await page.evaluate(() => (location.hash = '#set:job.gpus=1&strategy.kind=none'));
      await answered(page, '#set:job.gpus=1&strategy.kind=none');
      await page.evaluate(() => (location.hash = '#step'));
      assert.equal(await panel(page).getAttribute('data-shown'), '#set:job.gpus=1&strategy.kind=none', 'links to sections change nothing');
    });

    checks('what cannot be simulated says why, and how the program is asked', async (page) => {
      await page.evaluate(() => (location.hash = '#set:parallel.tensor=3'));
      const problem = panel(page).getByRole('alert');
      await problem.waitFor();
      const text = await problem.textContent();
      assert.match(text, /parallel\.tensor/);
      assert.match(text, /With the program: gradway run .*--set parallel\.tensor=3$/);
      const earlier = panel(page).getByText('The figures and charts are those of earlier settings.');
      assert.ok(await earlier.isVisible());
      assert.ok(await panel(page).getByText('As a scenario').isHidden());
      await page.evaluate(() => (location.hash = '#set:'));
      await answered(page, '');
      assert.ok(await problem.isHidden());
      assert.ok(await earlier.isHidden());
    });

    checks('memory has the verdict of the program', async (page) => {
      const memory = () => panel(page).locator('[data-figure="Memory"] td').last().textContent();
      assert.equal(await memory(), 'fits');
      await page.evaluate(() => (location.hash = '#set:job.batch_per_gpu=900'));
      await answered(page, '#set:job.batch_per_gpu=900');
      const unfit = native(await commandOf(page)).does_not_fit;
      assert.equal(await memory(), unfit);
      // It comes first, and there is no cost.
      assert.ok((await panel(page).locator('[role=status]').textContent()).startsWith(`The job ${unfit}`));
      assert.equal(await panel(page).locator('tbody tr').first().getAttribute('data-figure'), 'Memory');
      assert.equal(await panel(page).locator('[data-figure="Cost per hour"] td').nth(1).textContent(), '–');
      const { largest_batch: largest } = native(`${one.data.what_if.command} --fit`);
      const tight = `#set:job.batch_per_gpu=${largest.batch_per_gpu + 1}`;
      await page.evaluate((to) => (location.hash = to), tight);
      await answered(page, tight);
      assert.equal(await memory(), 'tight');
      await page.evaluate(() => (location.hash = '#set:'));
      await answered(page, '');
    });

    checks('the ways to fit are those of --fit, and a button sets one', async (page) => {
      await page.evaluate(() => (location.hash = '#set:job.batch_per_gpu=900'));
      await answered(page, '#set:job.batch_per_gpu=900');
      const { changes_to_fit: ways, largest_batch: largest } = native(`${await commandOf(page)} --fit`);
      assert.ok(ways.length > 0);
      await panel(page).getByRole('button', { name: 'Set the largest batch' }).click();
      const fitting = `#set:job.batch_per_gpu=${largest.batch_per_gpu}`;
      await answered(page, fitting);
      const buttons = panel(page).getByRole('button', { name: /^With the settings before: / });
      assert.equal(await buttons.count(), ways.length);
      await buttons.first().click();
      await page.waitForFunction((before) => document.getElementById('what-if').dataset.shown !== before && !document.querySelector('#what-if.busy'), fitting, { timeout: 30000 });
      assert.equal(await figure(page, 'Step time'), ways[0].step_time_s);
      await page.evaluate(() => (location.hash = '#set:'));
      await answered(page, '');
    });

    checks('every control has a name and is reached by the keyboard', async (page) => {
      const nameless = await panel(page).locator('input, select, button').evaluateAll((all) => all.filter((one) => !(one.getAttribute('aria-label') || one.labels?.length || one.textContent.trim()) || one.tabIndex < 0).map((one) => one.outerHTML));
      assert.deepEqual(nameless, []);
    });
  });
}

/** Texts that would run a script, open an address or leave a command if they were more than text. */
const attacks = [
  '<img src=x onerror=attacked=1>',
  '"><script>attacked=1</script>',
  "'><svg onload=attacked=1>",
  '</script><script>attacked=1</script>',
  'javascript:attacked=1',
  '<iframe srcdoc="<script>parent.attacked=1</script>">',
  '<a href="javascript:attacked=1" autofocus onfocus=attacked=1>',
  '${attacked=1}{{attacked=1}}',
  "'; touch attacked; '",
  '$(touch attacked)`touch attacked`',
  '" && touch attacked "',
  '-rf --out /',
  '__proto__',
  '\u202e\u0000\n--out',
  'x'.repeat(100000),
];

/** The elements of a page that only its own script makes. */
const elements = (page) => page.evaluate(() => ['script', 'img', 'iframe', 'a[href^="javascript"]', '[onerror], [onload], [onfocus]', 'base', 'form[action]'].map((what) => document.querySelectorAll(what).length));

for (const one of withEngine) {
  describe(`${one.name}: attacks`, () => {
    const checks = openedOnce(one);

    checks('a hostile file shows its texts and runs nothing, and is simulated as by the program', async (page) => {
      await answered(page, '');
      assert.ok(await panel(page).locator('.problem').isHidden());
      assert.equal(await figure(page, 'Step time'), one.data.report.metrics.step_time_s);
      assert.deepEqual(await elements(page), [4, 0, 0, 0, 0, 0, 0]);
      assert.equal(await page.evaluate(() => window.attacked), undefined);
      if (one.name.includes('hostile')) assert.ok((await page.locator('body').textContent()).includes('<img src=x onerror=attacked=1>'));
    });

    checks('the policy allows no script but its own, and no address', async (page, wrongs) => {
      const blocked = await page.evaluate(async () => {
        const seen = [];
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => seen.push(effectiveDirective));
        document.body.insertAdjacentHTML('beforeend', '<img src="https://example.invalid/x"><a id="bait" onclick="window.attacked=1">x</a>');
        document.getElementById('bait').click();
        document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.attacked=1' }));
        await fetch('https://example.invalid/').catch(() => {});
        await new Promise((done) => setTimeout(done, 100));
        return { seen, attacked: window.attacked };
      });
      assert.equal(blocked.attacked, undefined);
      assert.deepEqual([...new Set(blocked.seen)].sort(), ['connect-src', 'img-src', 'script-src-attr', 'script-src-elem']);
      for (const wrong of wrongs.splice(0)) assert.match(wrong, /^(console|error): .*Content.Security.Policy|^request: https:.*invalid.x$/); // which are blocked
    });

    checks('a hostile link shows its texts, and its command passes them on as they are', async (page) => {
      await page.goto('about:blank');
      await page.goto(`${one.url}#set:${['model', attacks[0]].map(encodeURIComponent).join('=')}`);
      for (const attack of attacks) {
        for (const [key, value] of [['model', attack], [attack, '1']]) {
          await page.evaluate((fragment) => (location.hash = fragment), `#set:${[key, value].map(encodeURIComponent).join('=')}`);
          await page.waitForFunction(() => /^(Ready|A step|No answer)/.test(document.querySelector('#what-if .status').textContent) && !document.querySelector('#what-if.busy'));
          assert.deepEqual(await elements(page), [4, 0, 0, 0, 0, 0, 0], attack);
          assert.equal(await page.evaluate(() => window.attacked), undefined, attack);
          const [, , , ...sets] = words(await commandOf(page));
          const expected = one.data.what_if.set.map((pair) => pair.join('='));
          const isKept = key === '__proto__' || (key === 'model' && value.length <= 200 && !/\p{Cc}/u.test(value));
          assert.deepEqual(sets.filter((word) => word !== '--set'), isKept ? [...expected, `${key}=${value}`] : expected, attack);
        }
      }
      await page.goto('about:blank');
      await page.goto(`${one.url}#set:%E0%A4%A&=&a&==&job.gpus`);
      await answered(page, '');
    });
  });
}
