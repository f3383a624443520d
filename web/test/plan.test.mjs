// SPDX-License-Identifier: Apache-2.0
// The planner in a page with the engine: its answers are the program's; links, models of the reader, mistakes, hostile files, keyboard.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { ofKind, openedOnce, shot } from './browser.mjs';

const work = mkdtempSync(join(tmpdir(), 'gradway-'));
after(() => rmSync(work, { recursive: true }));

const program = resolve(process.env.GRADWAY);
const seeds = 100; // of the page

function gradway(...words) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: work, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The program's plan for these choices. */
const planned = ({ model, platforms, gpus, data, deadline, option = '--tokens' }) =>
  JSON.parse(gradway('plan', '--model', model, '--platforms', platforms, '--gpus', gpus, option, data, ...(deadline ? ['--deadline', deadline] : []), '--seeds', String(seeds), '--json'));

const panel = (page) => page.locator('#plan');
const problem = (page) => panel(page).getByRole('alert');
const field = (page, key) => panel(page).locator(`[data-choice="${key}"]`);

/** Waits until the page shows the answer to these choices, as in the link. */
const answered = (page, shown) => page.waitForFunction((wanted) => document.getElementById('plan')?.dataset.shown === wanted, shown, { timeout: 120000 });

/** Waits until its status line says this. */
const says = (page, words) => page.waitForFunction(([source]) => new RegExp(source).test(document.querySelector('#plan .status').textContent), [words.source], { timeout: 120000 });

async function write(page, key, value) {
  await field(page, key).fill(value);
  await page.keyboard.press('Enter');
}

/** What the table of campaigns shows of each cluster. */
const shownRuns = (page) =>
  page.locator('#runs tbody tr').evaluateAll((rows) =>
    rows.map(({ cells }) => {
      const number = (cell) => Number(cell.querySelector('[data-value]')?.dataset.value ?? NaN);
      const [platform, gpus, layout, takes, , costs, , , deadline] = cells;
      return { platform: platform.textContent.split(' ')[0], gpus: gpus.textContent, layout: layout.textContent, seconds: number(takes), usd: number(costs), late_s: deadline ? number(deadline) : null };
    }),
  );

/** The same of the program. */
const expectedRuns = ({ runs }) =>
  runs.map(({ set, layout, estimate, limits }) => ({ platform: set.platform, gpus: set['job.gpus'], layout, seconds: estimate.seconds.median, usd: estimate.usd.median, late_s: limits.late_s }));

/** A small model of Hugging Face. */
const config = { architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 768, intermediate_size: 2048, num_hidden_layers: 6, num_attention_heads: 12, num_key_value_heads: 12, max_position_embeddings: 1024, hidden_act: 'silu', tie_word_embeddings: false, vocab_size: 32000 };
const imageConfig = { architectures: ['ViTForImageClassification'], model_type: 'vit', hidden_size: 384, image_size: 224, intermediate_size: 1536, num_attention_heads: 6, num_channels: 3, num_hidden_layers: 6, patch_size: 16, hidden_act: 'gelu' };
const give = (page, name, text) => panel(page).locator('input[type=file]').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });

const withEngine = ofKind('plan');
if (withEngine.length === 0) test('pages that plan a training', { skip: 'their engine was built from older sources than gradway' }, () => {});

for (const one of withEngine.filter(({ name }) => name.endsWith('plan'))) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { choices } = one.data.plan;

    checks('the answer is the program’s: layouts, days and dollars of each platform', async (page) => {
      await answered(page, '#plan');
      const expected = planned(choices);
      assert.deepEqual(await shownRuns(page), expectedRuns(expected));
      const layouts = await page.locator('#layouts tbody tr').evaluateAll((rows) => rows.map(({ cells: [platform, , layout, , , , , , memory] }) => [platform, layout, memory].map((cell) => cell.textContent)));
      assert.deepEqual(layouts, expected.runs.map(({ set, layout }) => [set.platform, layout, 'fits']));
      assert.match(await page.locator('#answer').textContent(), new RegExp(`^The cheapest within 30 days is ${expected.runs[expected.best].set.platform} with 8 GPUs: `));
      assert.ok(await problem(page).isHidden());
      assert.equal(page.url(), one.url, 'an unchanged page has no fragment');
      await shot(page, 'plan');
    });

    checks('another deadline changes verdicts and link, and the link opens with the same answer', async (page) => {
      const before = await shownRuns(page);
      await write(page, 'deadline', '1 h');
      await answered(page, '#plan:deadline=1+h');
      const shown = await shownRuns(page);
      assert.deepEqual(shown, expectedRuns(planned({ ...choices, deadline: '1 h' })));
      assert.ok(before.every(({ late_s: late }) => late < 0) && shown.some(({ late_s: late }) => late > 0) && shown.some(({ late_s: late }) => late < 0));
      assert.ok(page.url().endsWith('#plan:deadline=1+h'));
      const address = page.url();
      await page.goto('about:blank');
      await page.goto(address);
      await answered(page, '#plan:deadline=1+h');
      assert.deepEqual(await shownRuns(page), shown);
      assert.equal(await field(page, 'deadline').inputValue(), '1 h');
      await write(page, 'deadline', '2 min');
      await answered(page, '#plan:deadline=2+min');
      assert.match(await page.locator('#answer').textContent(), /^No cluster trains it within /);
    });

    checks('the scenario of a row runs with the program, as its command says', async (page) => {
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      await answered(page, '#plan');
      const shown = (await shownRuns(page))[1];
      await page.getByRole('button', { name: `Show the scenario for ${shown.platform}, 8 GPUs` }).click();
      await page.locator('#plan-details').waitFor();
      writeFileSync(join(work, 'plan.yaml'), await page.getByRole('region', { name: 'The scenario of this cluster' }).textContent());
      const command = await page.getByRole('region', { name: 'The command that simulates it' }).textContent();
      const { status, stderr } = spawnSync('bash', ['-c', command.replace(/^gradway /, '"$GRADWAY" ')], { cwd: work, encoding: 'utf8', env: { ...process.env, GRADWAY: program } });
      assert.equal(status, 0, stderr);
      assert.ok(existsSync(join(work, 'result', 'report.html')));
      const { estimate } = JSON.parse(gradway('campaign', './plan.yaml', '--seeds', String(seeds), '--json'));
      assert.deepEqual([estimate.seconds.median, estimate.usd.median], [shown.seconds, shown.usd]);
    });

    checks('a config.json becomes a model, and is planned', async (page) => {
      await give(page, 'tiny.json', JSON.stringify(config));
      await answered(page, '#plan:model=tiny');
      writeFileSync(join(work, 'tiny.json'), JSON.stringify(config));
      assert.deepEqual(await shownRuns(page), expectedRuns(planned({ ...choices, model: 'tiny.json' })));
      const larger = JSON.stringify({ ...config, num_hidden_layers: 12 });
      await give(page, 'tiny.json', larger);
      writeFileSync(join(work, 'tiny.json'), larger);
      const expected = expectedRuns(planned({ ...choices, model: 'tiny.json' }));
      await page.waitForFunction((all) => all.every(({ seconds }) => document.querySelector(`#runs [data-value="${seconds}"]`)), expected, { timeout: 120000 });
      assert.deepEqual(await shownRuns(page), expected, 'a file of the same name replaces it');
    });

    checks('its scenario runs with the program, beside the file of the model, and its link has the model', async (page) => {
      const shown = (await shownRuns(page))[1];
      await page.getByRole('button', { name: `Show the scenario for ${shown.platform}, 8 GPUs` }).click();
      await page.locator('#plan-details').waitFor();
      const text = (name) => page.getByRole('region', { name }).textContent();
      const folder = mkdtempSync(join(work, 'own-'));
      mkdirSync(join(folder, 'models'));
      writeFileSync(join(folder, 'plan.yaml'), await text('The scenario of this cluster'));
      writeFileSync(join(folder, 'models', 'tiny.yaml'), await text('Its model: save it as models/tiny.yaml'));
      const words = (await text('The command that simulates it')).replace(/^gradway /, '"$GRADWAY" ').replace(/--out result$/, '--json');
      const { status, stdout, stderr } = spawnSync('bash', ['-c', words], { cwd: folder, encoding: 'utf8', env: { ...process.env, GRADWAY: program } });
      assert.equal(status, 0, stderr);
      const { estimate } = JSON.parse(stdout);
      assert.deepEqual([estimate.seconds.median, estimate.usd.median], [shown.seconds, shown.usd]);
      const address = page.url();
      await page.goto('about:blank');
      await page.goto(address);
      await answered(page, '#plan:model=tiny');
      assert.deepEqual((await shownRuns(page))[1], shown);
      await page.goto('about:blank');
      await page.goto(address.replace(/&own=[^&]*/, ''));
      await says(page, /^Choose another model, or the config\.json of “tiny”, which this page does not have\.$/);
    });

    checks('a config.json with the name of another model does not replace it', async (page) => {
      await give(page, 'gpt_124m.json', JSON.stringify(config));
      await answered(page, '#plan:model=gpt_124m-own');
      writeFileSync(join(work, 'other.json'), JSON.stringify(config));
      assert.deepEqual(await shownRuns(page), expectedRuns(planned({ ...choices, model: 'other.json' })));
    });

    checks('a config.json of a model of images is planned with samples', async (page) => {
      await give(page, 'images.json', JSON.stringify(imageConfig));
      await answered(page, '#plan:model=images');
      writeFileSync(join(work, 'images.json'), JSON.stringify(imageConfig));
      assert.deepEqual(await shownRuns(page), expectedRuns(planned({ ...choices, model: 'images.json', option: '--samples' })));
    });

    checks('answers of earlier settings are marked, and cannot be used', async (page) => {
      const isMarked = async () => {
        const earlier = await page.locator('#plan-earlier').isVisible();
        assert.equal(await page.locator('#plan-results').evaluate(({ inert }) => inert), earlier);
        return earlier;
      };
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      assert.ok(await isMarked());
      await answered(page, '#plan');
      assert.ok(!(await isMarked()));
      await write(page, 'budget', 'abc');
      await problem(page).waitFor();
      assert.ok(await isMarked());
      await write(page, 'budget', '');
      await answered(page, '#plan');
      assert.ok(!(await isMarked()));
      await write(page, 'data', '20B');
      await write(page, 'global_batch', 'x');
      await says(page, /^“x” is not a number of samples per step: write a number such as 1024\.$/);
      await page.waitForTimeout(3000); // the answer to the question before
      await says(page, /^“x” is not/);
      assert.ok(await isMarked());
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      await answered(page, '#plan');
    });

    checks('commas are separators of thousands where they can only be that', async (page) => {
      await write(page, 'gpus', '64,128');
      await says(page, /^“64,128” can be one number or several: write 64128, or 64, 128 with spaces\.$/);
      await write(page, 'gpus', '8, 008');
      await says(page, /^“008” is not a number of GPUs/);
      await write(page, 'gpus', '1,024');
      await write(page, 'global_batch', '4,096');
      await answered(page, '#plan:global_batch=4%2C096&gpus=1%2C024');
      assert.deepEqual((await shownRuns(page)).map(({ gpus }) => gpus), ['1024', '1024']);
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      await answered(page, '#plan');
    });

    checks('an error of all clusters is shown with its hint, and no answer', async (page) => {
      await write(page, 'data', '30 bananas');
      await page.waitForFunction(() => /^30 bananas: error: unknown multiple 'bananas'[^]*hint: use k, M, B/.test(document.querySelector('#plan .problem').textContent), undefined, { timeout: 120000 });
      assert.equal(await page.locator('#answer').count(), 0);
      await write(page, 'data', choices.data);
      await answered(page, '#plan');
    });

    checks('mistakes say what to do, and the page stays usable', async (page) => {
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      await answered(page, '#plan');
      await write(page, 'gpus', 'x');
      await page.waitForFunction(() => /“x” is not a number of GPUs: write numbers such as 64, 128\./.test(document.querySelector('#plan .status').textContent));
      await write(page, 'gpus', '8');
      await answered(page, '#plan');
      await write(page, 'data', '');
      await problem(page).waitFor();
      assert.equal(await problem(page).textContent(), 'Say how many tokens, such as 300B, or how many samples.');
      await write(page, 'data', choices.data);
      await answered(page, '#plan');
      assert.ok(await problem(page).isHidden());
      await write(page, 'budget', 'abc');
      await problem(page).waitFor();
      assert.match(await problem(page).textContent(), /budget: error: 'abc' does not begin with a number[^]*'100k USD'/);
      await write(page, 'budget', '');
      await answered(page, '#plan');
      await field(page, 'failures').selectOption('none');
      await answered(page, '#plan:failures=none');
      await write(page, 'global_batch', '4096');
      await write(page, 'gpus', '13');
      await page.waitForFunction(() => /error: no layout of 13 GPUs has a global batch of 4096 samples[^]*hint: /.test(document.querySelector('#plan .problem').textContent), undefined, { timeout: 120000 });
      await panel(page).getByRole('button', { name: 'Take back all choices' }).click();
      await answered(page, '#plan');
      for (const text of ['{', '[]', 'null', '{"model_type": "none"}', '']) {
        await give(page, 'config.json', text);
        await problem(page).waitFor();
        assert.match(await problem(page).textContent(), /error: /, text);
        await write(page, 'budget', '1M USD');
        await answered(page, '#plan:budget=1M+USD');
        await write(page, 'budget', '');
        await answered(page, '#plan');
        assert.ok(await problem(page).isHidden());
      }
    });

    checks('all choices are made with the keyboard', async (page) => {
      const nameless = await panel(page).locator('input:not([type=file]), select, button, summary').evaluateAll((all) => all.filter((one) => !(one.getAttribute('aria-label') || one.labels?.length || one.textContent.trim()) || one.tabIndex < 0).map((one) => one.outerHTML));
      assert.deepEqual(nameless, []);
      const tabTo = async (selector) => {
        for (let i = 0; i < 300; ++i) {
          if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
          await page.keyboard.press('Tab');
        }
        assert.fail(`Tab does not reach ${selector}`);
      };
      await page.locator('#theme').focus();
      await tabTo('#plan .platforms > summary');
      await page.keyboard.press('Enter');
      await tabTo('[data-platform="aws-p5.48xlarge"]');
      await page.keyboard.press('Space');
      await answered(page, '#plan:platforms=aws-p4d.24xlarge');
      await tabTo('[data-choice="deadline"]');
      await page.keyboard.type('2 weeks');
      await page.keyboard.press('Enter');
      await answered(page, '#plan:platforms=aws-p4d.24xlarge&deadline=2+weeks');
      await tabTo('#layouts button[aria-label^="Show the scenario"]');
      await page.keyboard.press('Enter');
      await page.locator('#plan-details').waitFor();
    });
  });
}

/** Texts that would run a script or leave a command if they were more than text. */
const attacks = ['<img src=x onerror=attacked=1>', '"><script>attacked=1</script>', '</script><script>attacked=1</script>', "'; touch attacked; '", '$(touch attacked)', '__proto__', 'constructor', '../../x', 'x'.repeat(10000)];

/** Elements that only a page's own script makes, and what an attack would leave. */
const traces = (page) => page.evaluate(() => [...['script', 'img', 'iframe', '[onerror], [onload], [onfocus]', 'base'].map((what) => document.querySelectorAll(what).length), window.attacked]);

for (const one of withEngine) {
  describe(`${one.name}: attacks`, () => {
    const checks = openedOnce(one);
    const isHostile = one.name.includes('hostile');
    const clean = [4, 0, 0, 0, 0, undefined];

    checks('a model with hostile texts runs nothing', async (page) => {
      assert.deepEqual(await traces(page), clean);
      if (!isHostile) return;
      const name = one.data.plan.models.find(({ name }) => name === 'hostile').name;
      await page.waitForFunction(() => document.querySelector('#plan .status').textContent === 'Choose a model.');
      await field(page, 'model').selectOption(name);
      await write(page, 'data', '1M');
      await write(page, 'gpus', '8');
      await panel(page).locator('[data-platform="aws-p4d.24xlarge"]').check();
      await answered(page, '#plan:model=hostile&data=1M&platforms=aws-p4d.24xlarge&gpus=8');
      assert.deepEqual(await traces(page), clean);
    });

    checks('a hostile config.json is text', async (page) => {
      const settled = () => page.waitForFunction(() => !document.querySelector('#plan .problem').hidden || document.getElementById('plan').dataset.shown || /^(Choose|Say)/.test(document.querySelector('#plan .status').textContent), undefined, { timeout: 120000 });
      for (const attack of attacks.slice(0, isHostile ? undefined : 2)) {
        await give(page, `${attack.slice(0, 100).replaceAll('/', '')}.json`, JSON.stringify({ ...config, model_type: attack, architectures: [attack] }));
        await settled();
        assert.deepEqual(await traces(page), clean, attack);
        await give(page, `${attack.slice(0, 100).replaceAll('/', '')}.json`, JSON.stringify({ ...config, num_hidden_layers: 2, [attack]: attack, _name_or_path: attack }));
        await settled();
        assert.deepEqual(await traces(page), clean, attack);
      }
    });

    checks('a hostile link is text', async (page) => {
      for (const attack of attacks.slice(0, isHostile ? undefined : 2)) {
        for (const key of ['model', 'platforms', 'gpus', 'deadline', 'budget', 'terms', 'failures', 'framework', attack]) {
          await page.evaluate((fragment) => (location.hash = fragment), `#plan:${new URLSearchParams([[key, attack]])}`);
          await page.waitForFunction(() => document.querySelector('#plan .status').textContent !== '');
          assert.deepEqual(await traces(page), clean, `${key} ${attack}`);
        }
      }
    });
  });
}
