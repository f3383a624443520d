// SPDX-License-Identifier: Apache-2.0
// An ordinary page in Firefox, which has other engines for scripts, styles and text. test/what_if.test.mjs runs there, too.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { openedOnce, pages, shot, tableOf } from './browser.mjs';

const one = pages.find(({ data }) => data.kind === 'run' && !data.what_if);

describe(`${one.name} in Firefox`, () => {
  const checks = openedOnce(one);

  checks('draws all its charts and logs nothing', async (page) => {
    const empty = await page.locator('.chart').evaluateAll((all) => all.filter((chart) => !chart.querySelector('svg path, canvas')).map((chart) => chart.getAttribute('aria-label')));
    assert.ok((await page.locator('.chart').count()) > 4);
    assert.deepEqual(empty, []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280, 'no scrolling sideways');
    await shot(page, 'firefox');
  });

  checks('a chart answers to the arrow keys, and a table opens', async (page) => {
    await page.locator('#step .chart').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector('#step .tip')?.textContent.length > 3);
    assert.ok((await tableOf(page, 'timeline')).length > 0);
  });
});
