// SPDX-License-Identifier: Apache-2.0
// Takes the pictures of docs/what-if.md from a page, doing what the document says:  node pictures.mjs REPORT_HTML FOLDER
//
// REPORT_HTML  of gradway run sharded/llama2_7b --what-if --out; it says how long each answer took from opening the page.
// CHROMIUM     the browser; /usr/bin/chromium if not given
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [report, folder] = process.argv.slice(2);
const flags = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags });

const tasks = {
  nvlink: (panel) => panel.getByLabel('GPUs are connected by').selectOption('0'),
  batch: (panel) => panel.getByRole('button', { name: 'Set the largest batch' }).click(),
};
for (const [name, act] of Object.entries(tasks)) {
  const page = await (await browser.newContext({ offline: true, viewport: { width: 1000, height: 1000 }, deviceScaleFactor: 0.72 })).newPage();
  const start = performance.now();
  await page.goto(pathToFileURL(resolve(report)).href);
  const panel = page.locator('#what-if');
  const shows = (wanted) => page.waitForFunction((pattern) => new RegExp(pattern).test(document.getElementById('what-if').dataset.shown), wanted);
  await shows('^$');
  const opened = performance.now();
  await act(panel);
  await shows('^#set:');
  console.log(`${name}: the page was ready after ${Math.round(opened - start)} ms, the answer came ${Math.round(performance.now() - opened)} ms after one action`);
  await page.waitForFunction(() => !document.querySelector('#what-if.busy'));
  await panel.evaluate((one) => one.scrollIntoView());
  const { x, y, width } = await panel.boundingBox();
  await page.screenshot({ path: join(folder, `what-if-${name}.png`), clip: { x, y: Math.max(y, 0), width, height: 540 } });
}
await browser.close();
