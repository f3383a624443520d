// SPDX-License-Identifier: Apache-2.0
// Takes the pictures of docs/what-if.md or docs/plan.md from a page, doing what the document says:  node pictures.mjs PAGE FOLDER
//
// PAGE         report.html of gradway run sharded/llama2_7b --what-if --out, or plan.html of gradway plan --out; it says how long each
//              answer took from opening the page.
// CHROMIUM     the browser; /usr/bin/chromium if not given
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [file, folder] = process.argv.slice(2);
const flags = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags });

const address = pathToFileURL(resolve(file)).href;

/** Opens the page, without a network, and waits until a panel shows this. @returns the page, its panel, and what waits for another text */
async function opened(id, first) {
  const page = await (await browser.newContext({ offline: true, viewport: { width: 1000, height: 1000 }, deviceScaleFactor: 0.72 })).newPage();
  const start = performance.now();
  await page.goto(address);
  const shows = (wanted) => page.waitForFunction(([at, pattern]) => new RegExp(pattern).test(document.getElementById(at).dataset.shown), [id, wanted], { timeout: 120000 });
  await shows(first);
  console.log(`the page was ready after ${Math.round(performance.now() - start)} ms`);
  return { page, panel: page.locator(`#${id}`), shows };
}

/** @returns what says how long it took since then */
function stopwatch() {
  const start = performance.now();
  return (what) => console.log(`${what} came after ${Math.round(performance.now() - start)} ms`);
}

const whatIfs = {
  nvlink: (panel) => panel.getByLabel('GPUs are connected by').selectOption('0'),
  batch: (panel) => panel.getByRole('button', { name: 'Set the largest batch' }).click(),
};

async function takeWhatIfs() {
  for (const [name, act] of Object.entries(whatIfs)) {
    const { page, panel, shows } = await opened('what-if', '^$');
    const say = stopwatch();
    await act(panel);
    await shows('^#set:');
    say(`${name}: the answer to one action`);
    await page.waitForFunction(() => !document.querySelector('#what-if.busy'));
    await panel.evaluate((one) => one.scrollIntoView());
    const { x, y, width } = await panel.boundingBox();
    await page.screenshot({ path: join(folder, `what-if-${name}.png`), clip: { x, y: Math.max(y, 0), width, height: 540 } });
  }
}

async function takePlan() {
  const { page, panel, shows } = await opened('plan', '^$');
  const say = stopwatch();
  await panel.getByLabel('Model').selectOption('llama3_8b');
  await panel.getByLabel('Tokens, or samples').fill('300B');
  await panel.getByLabel('GPUs', { exact: true }).fill('64, 128');
  for (const name of ['aws-p5.48xlarge', 'aws-p5en.48xlarge', 'azure-nd96isr-mi300x-v5']) await panel.locator(`[data-platform="${name}"]`).check();
  await panel.getByLabel('Deadline').fill('4 days');
  await page.keyboard.press('Enter');
  await shows('^#plan:.*deadline=4');
  say('deadline: the answer for six clusters');
  await page.evaluate(() => document.activeElement.blur());
  const [top, chart] = await Promise.all(['#plan-answer', '#days-dollars .chart'].map((one) => page.locator(one).boundingBox()));
  const scrolled = await page.evaluate(() => scrollY);
  await page.screenshot({ path: join(folder, 'plan-deadline.png'), fullPage: true, clip: { x: top.x, y: top.y + scrolled, width: top.width, height: chart.y + chart.height - top.y } });
}

await (readFileSync(file, 'utf8').includes('"kind":"plan"') ? takePlan() : takeWhatIfs());
await browser.close();
