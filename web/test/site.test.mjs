// SPDX-License-Identifier: Apache-2.0
// The site that scripts/site writes, as a web server sends it: the first answer, what a link carries, a measured step, rows with filters,
// the copy of the browser, accessibility.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isFirefox, launch, shot } from './browser.mjs';

const folder = process.env.GRADWAY_SITE;
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const longest = { timeout: 120000 };

/** Sends the files of the site. */
async function serve() {
  const server = createServer(({ url }, response) => {
    const path = new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html');
    const file = join(folder, path);
    const isHere = existsSync(file) && statSync(file).isFile();
    response.writeHead(isHere ? 200 : 404, { 'Content-Type': types[extname(file)] ?? 'text/plain' });
    response.end(isHere ? readFileSync(file) : '');
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${server.address().port}/`, end: () => new Promise((ended) => { server.close(ended); server.closeAllConnections(); }) };
}

describe('the site', { skip: folder ? false : 'no site was written for this test' }, () => {
  let browser, server;
  before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
  after(() => Promise.all([browser.close(), server.end()]));

  const open = async (address = '', options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    const wrongs = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrongs.push(message.text()));
    page.on('pageerror', (error) => wrongs.push(String(error)));
    await page.goto(server.url + address);
    return { context, page, wrongs };
  };
  const answered = (page, model = '') => page.waitForFunction((name) => document.getElementById('plan')?.dataset.shown.includes(name) && document.getElementById('answer'), model || '#plan', longest);
  const measured = (page) => page.locator('#measure tbody td').allTextContents();

  test('the first answer is that of the program, and is there in ten seconds', async () => {
    const start = performance.now();
    const { context, page, wrongs } = await open();
    await page.waitForSelector('#answer', longest);
    assert.ok(performance.now() - start < 10000);
    await answered(page);
    const { site, plan } = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent));
    const { runs, cheapest, tied } = JSON.parse(Object.entries(site.answers).find(([question]) => question.startsWith('campaigns '))[1]);
    const best = runs[cheapest ?? tied.cheapest.runs[0]];
    assert.match(await page.textContent('#answer'), new RegExp(`^The cheapest is ${best.set.platform} with ${plan.choices.gpus} GPUs: `));
    assert.match(await page.textContent('#how-true h2'), /^The published steps closest to .* were predicted with errors of /);
    assert.equal(await page.locator('#how-true tbody tr').count(), 5);
    assert.deepEqual(wrongs, []);
    await context.close();
  });

  test('another question is answered by first layouts in ten seconds, then by the best', async () => {
    const start = performance.now();
    const { context, page, wrongs } = await open('#plan:gpus=128');
    await page.waitForSelector('#answer', longest);
    assert.ok(performance.now() - start < 10000);
    assert.match(await page.textContent('#plan .status'), /^First layouts are below\. Searching all layouts: 0 of 4 clusters done\./);
    await answered(page, 'gpus=128');
    assert.match(await page.textContent('#plan .status'), /^4 campaigns simulated in /);
    assert.equal(await page.locator('#layouts tbody tr').count(), 4);
    assert.deepEqual(wrongs, []);
    await context.close();
  });

  test('a link carries a model of the reader, a cluster and its changes', async () => {
    const { context, page, wrongs } = await open('#plan:platforms=aws-p5.48xlarge&gpus=8&data=1B');
    const config = { architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 768, intermediate_size: 2048, num_hidden_layers: 6, num_attention_heads: 12, num_key_value_heads: 12, max_position_embeddings: 1024, hidden_act: 'silu', tie_word_embeddings: false, vocab_size: 32000 };
    await answered(page);
    await page.evaluate(([text, isDropped]) => {
      const data = new DataTransfer();
      data.setData('text', text);
      if (!isDropped) return document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
      data.items.add(new File([text], 'config.json', { type: 'application/json' }));
      document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    }, [JSON.stringify(config), isFirefox]); // whose pages read no data that a script pastes
    await answered(page, 'model=my_model');
    const answer = await page.textContent('#answer');
    await page.getByRole('button', { name: 'Change settings of aws-p5.48xlarge, 8 GPUs' }).click();
    await page.waitForFunction(() => /^Ready/.test(document.querySelector('#what-if .status')?.textContent ?? ''), undefined, longest);
    await page.locator('#what-if').getByLabel('GPUs are connected by').selectOption('0');
    await page.waitForFunction(() => document.getElementById('what-if').dataset.shown.includes('faster.nvlink'), undefined, longest);
    const status = (await page.textContent('#what-if .status')).replace(/, simulated.*/, '');
    const link = await page.evaluate(() => location.hash);
    const other = await open(link);
    await other.page.waitForFunction(() => document.getElementById('what-if')?.dataset.shown?.includes('faster.nvlink'), undefined, longest);
    assert.equal(await other.page.textContent('#answer'), answer);
    assert.equal((await other.page.textContent('#what-if .status')).replace(/, simulated.*/, ''), status);
    assert.deepEqual([...wrongs, ...other.wrongs], []);
    await Promise.all([context.close(), other.context.close()]);
  });

  test('a damaged link is text', async () => {
    for (const link of ['#plan:model=mine&own=%3Cimg', '#plan:what_if=aws-p5.48xlarge+64&set=%3Cscript%3E', '#plan:model=..%2Fx&own=S0nOSM3JUSjPL8pJAQA']) {
      const { context, page, wrongs } = await open(link);
      await page.waitForFunction(() => document.querySelector('#plan .status').textContent !== '');
      assert.equal(await page.locator('img, iframe').count(), 0, link);
      assert.deepEqual(wrongs, [], link);
      await context.close();
    }
  });

  test('a measured step is scored, and kept as a file of cases', async () => {
    const { context, page } = await open();
    await answered(page);
    const score = page.getByRole('button', { name: 'Predict the scenario and compare it' });
    await score.click();
    assert.match(await page.locator('#measure [role=alert]').textContent(), /^Paste the scenario/);
    await page.locator('#layouts').getByRole('button', { name: /^Show the scenario for aws-p5/ }).click();
    await page.waitForFunction(() => document.querySelector('#measure textarea').value !== '', undefined, longest);
    await page.getByLabel('Measured time of a step').last().fill('soon');
    await score.click();
    assert.match(await page.locator('#measure [role=alert]').textContent(), /is not a time of a step: write it as 640 ms or 3.2 s/);
    await page.getByLabel('Measured time of a step').last().fill('1 ms');
    await score.click();
    await page.waitForSelector('#measure tbody td', longest);
    const [name, time, , , , verdict] = await measured(page);
    assert.deepEqual([name, time, verdict], ['aws-p5.48xlarge-64', '1 ms', 'faster than the interval']);
    if (!isFirefox) { // whose driver does not tell of downloads
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save a file of cases' }).click();
      const cases = readFileSync(await (await saved).path(), 'utf8');
      assert.equal(cases, 'schema: 1\nsource: "my own measurement"\ncases:\n  - { name: aws-p5-48xlarge-64, scenario: aws-p5-48xlarge-64.yaml, step_time: 1 ms }\n');
    }
    await context.close();
  });

  test('rows are filtered, with their mean error', async () => {
    const { context, page } = await open();
    await answered(page);
    const rows = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).site.accuracy);
    const kept = rows.filter(({ gpu, is_given: isGiven }) => gpu === 'l40s' && !isGiven);
    await page.locator('#accuracy summary').first().click();
    await page.locator('#accuracy').getByLabel('GPU', { exact: true }).selectOption('l40s');
    const mean = (kept.reduce((sum, { error }) => sum + Math.abs(error), 0) / kept.length) * 100;
    assert.match(await page.locator('#accuracy .status').textContent(), new RegExp(`^${kept.length} rows: mean error ${mean.toFixed(1)} %`));
    await context.close();
  });

  test('a second visit needs no network', async () => {
    const { context, page } = await open();
    await page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => new Promise((done) => (active.state === 'activated' ? done() : active.addEventListener('statechange', () => active.state === 'activated' && done())))));
    await context.setOffline(true);
    await page.goto(server.url);
    await page.waitForSelector('#answer', longest);
    for (const name of readdirSync(join(folder, 'docs')).filter((one) => one.endsWith('.html'))) {
      await page.goto(`${server.url}docs/${name}`);
      assert.ok((await page.locator('h1').count()) > 0, name);
    }
    await context.close();
  });

  for (const colorScheme of ['light', 'dark'])
    test(`axe finds no serious fault (${colorScheme}), and nothing is wider than the window`, async () => {
      for (const address of ['', 'docs/guide.html', 'docs/ACCURACY.html']) {
        const { context, page } = await open(address, { colorScheme, bypassCSP: true });
        if (address === '') {
          await answered(page);
          await page.locator('#layouts').getByRole('button', { name: /^Show the scenario for aws-p5/ }).click();
          await page.getByRole('button', { name: /^Change settings of aws-p5/ }).click();
          await page.waitForFunction(() => /^Ready/.test(document.querySelector('#what-if .status')?.textContent ?? ''), undefined, longest);
        }
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
        assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)]), [], address);
        for (const width of [390, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${address} at ${width} px`);
          await shot(page, `site-${address.replace(/\W/g, '-') || 'index'}-${colorScheme}-${width}`);
        }
        await context.close();
      }
    });
});
