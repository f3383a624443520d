// SPDX-License-Identifier: Apache-2.0
// What holds for every page, whatever its kind.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openedOnce, pages, shot } from './browser.mjs';

const wide = { width: 1280, theme: 'light' };
const narrow = { width: 390, theme: 'dark', touch: true };
const other = { light: 'dark', dark: 'light' };

async function drawsAll(page, one, { width, theme }) {
  const charts = await page.locator('.chart').evaluateAll((all) =>
    all.map((chart) => ({
      label: chart.getAttribute('aria-label') ?? '',
      drawn: chart.querySelectorAll('svg path').length > 0 || chart.querySelectorAll('canvas').length > 0,
      focus: chart.tabIndex,
      right: chart.getBoundingClientRect().right,
    })),
  );
  assert.ok(charts.length > 0 || (one.data.validate?.cases ?? one.data.sweep?.runs ?? []).length === 0);
  for (const chart of charts) {
    assert.ok(chart.label.length > 10, 'a text alternative');
    assert.ok(chart.drawn, chart.label);
    assert.equal(chart.focus, 0, 'reached by the keyboard');
    assert.ok(chart.right <= width + 0.5, `${chart.label} sticks out`);
  }
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'no scrolling sideways');
  assert.doesNotMatch(await page.locator('body').innerText(), /\b(NaN|undefined|Infinity|\[object)/);
  await shot(page, `${one.name}-${width}-${theme}`);
}

/** What stands where in the picture of a chart: no two texts on each other, no time with more digits than people read. */
async function labelsAreLegible(page) {
  const found = await page.locator('.chart').evaluateAll((all) =>
    all.flatMap((chart) => {
      const texts = [...chart.querySelectorAll('svg text')].filter((text) => text.textContent.trim() !== '').map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
      const clash = ({ box: a }, { box: b }) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
      const name = chart.closest('section')?.id ?? '';
      return [
        ...texts.flatMap((one, i) => texts.slice(i + 1).filter((other) => clash(one, other)).map((other) => `${name}: "${one.text}" on "${other.text}"`)),
        ...texts.filter(({ text }) => /^[\d.]+ (ns|µs|ms|s|min|h|days)$/.test(text) && text.replace(/ .*|\D/g, '').replace(/^0+/, '').length > 4).map(({ text }) => `${name}: the tick "${text}"`),
      ];
    }),
  );
  assert.deepEqual(found, []);
}

/** Opens each table for a moment: its columns must not be cut. */
async function tablesFit(page) {
  const cut = await page.evaluate(async () => {
    const closed = [...document.querySelectorAll('details.as-table:not([open])')];
    for (const details of closed) {
      details.dispatchEvent(new Event('fill'));
      details.open = true;
    }
    await new Promise((done) => setTimeout(done, 50));
    const wide = [...document.querySelectorAll('.scroll')].filter((frame) => frame.scrollWidth > frame.clientWidth + 1).map((frame) => `${frame.getAttribute('aria-label')}: ${frame.scrollWidth} px in ${frame.clientWidth}`);
    for (const details of closed) details.open = false;
    return wide;
  });
  assert.deepEqual(cut, []);
}

async function changeTheme(page, theme) {
  await page.emulateMedia({ colorScheme: theme });
  await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
}

/** What a page does when somebody uses it. */
function answers(checks) {
  checks('the button changes the colours and remembers nothing', async (page) => {
    const look = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor, document.querySelector('.chart svg text')?.getAttribute('fill')]);
    const light = await look();
    await page.locator('#theme').click();
    assert.deepEqual(await look(), light, 'auto is light here, so light is the same');
    await page.locator('#theme').click();
    const dark = await look();
    assert.equal(dark[0], 'dark');
    assert.notEqual(dark[1], light[1]);
    if (light[2]) assert.notEqual(dark[2], light[2]);
    await page.locator('#theme').focus();
    await page.keyboard.press('Enter');
    assert.deepEqual(await look(), light, 'auto again');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  });

  checks('prints light, opened, without controls', async (page) => {
    await changeTheme(page, 'dark');
    await page.emulateMedia({ media: 'print' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
    assert.equal(await page.locator('#theme').isVisible(), false);
    assert.equal(await page.locator('.controls:visible').count(), 0);
    assert.equal(await page.locator('details[data-print]:not([open])').count(), 0);
    for (const rows of await page.locator('details.as-table[data-print]').evaluateAll((all) => all.map((one) => one.querySelectorAll('tbody tr').length))) assert.ok(rows > 0);
    const wide = await page.locator('.chart').evaluateAll((all) => all.map((chart) => chart.firstElementChild.getBoundingClientRect().width));
    for (const width of wide) assert.ok(width <= 690, `a chart of ${width} px is cut on paper`);
    await page.setViewportSize({ width: 690, height: 1000 });
    const sticking = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > 691 && !one.closest('.chart, .hidden')).map((one) => one.outerHTML.slice(0, 80)));
    assert.deepEqual(sticking, [], 'cut on paper');
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('section')).borderLeftWidth), '0px', 'the style of paper');
    const pdf = await page.pdf({ format: 'A4' });
    assert.ok(pdf.length > 10000);
    await page.emulateMedia({ media: 'screen' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  });

  checks('every chart answers to the arrow keys', async (page) => {
    for (const chart of await page.locator('.chart').all()) {
      if ((await chart.locator('canvas').count()) > 0) continue; // the timeline has keys of its own
      await chart.focus();
      await page.keyboard.press('ArrowRight');
      await page.waitForFunction((area) => area.querySelector('.tip')?.textContent.length > 3, await chart.elementHandle(), { timeout: 5000 });
      assert.equal(await page.locator('[aria-live].hidden').textContent(), await chart.locator('.tip').textContent(), 'and says so');
      await page.keyboard.press('Escape');
    }
  });

  checks('a heading of a table sorts it', async (page) => {
    const details = page.locator('details.as-table').first();
    await details.locator('summary').click();
    await details.locator('tbody tr').first().waitFor();
    const heads = details.locator('th');
    const column = await heads.evaluateAll((all) => all.findIndex((head) => head.classList.contains('number')));
    const values = () => details.evaluate((one, at) => [...one.querySelectorAll('tbody tr')].map((row) => row.cells[at].querySelector('[data-value]')).filter(Boolean).map((cell) => Number(cell.dataset.value)), column);
    const sorted = [...(await values())].sort((a, b) => a - b);
    await heads.nth(column).locator('button').click();
    assert.deepEqual(await values(), sorted);
    await heads.nth(column).locator('button').click();
    assert.deepEqual(await values(), sorted.reverse());
    assert.equal(await heads.nth(column).getAttribute('aria-sort'), 'descending');
  });
}

for (const one of pages) {
  test(`${one.name}: is one small file that asks for nothing`, () => {
    const size = Buffer.byteLength(one.text) - one.dataSize - one.engineSize;
    assert.ok(size < 2e6, `${size} bytes without data`);
    assert.ok(size + one.engineSize < 6e6, `${size + one.engineSize} bytes without the data of its run`);
    assert.match(one.text, /Content-Security-Policy" content="default-src 'none'/);
    assert.doesNotMatch(one.text.replace(/<!--[^]*?-->/g, ''), /<(link|img|script|iframe)[^>]+(src|href)="(?!data:)/);
    assert.match(one.text, /Apache ECharts[^]*zrender[^]*tslib/, 'the notices of the bundled parts');
  });

  for (const view of [narrow, wide]) {
    describe(`${one.name} at ${view.width} px`, () => {
      const checks = openedOnce(one, view);

      checks(`draws all its charts, ${view.theme}, and logs nothing`, (page) => drawsAll(page, one, view));

      checks('no label lies on another, and ticks are round', labelsAreLegible);

      if (view === wide) checks('no table is wider than its frame', tablesFit);

      checks('the title says what it is about, the answer comes first, provenance last', async (page) => {
        assert.equal(await page.locator('h1').textContent(), one.data.title);
        assert.ok((await page.locator('.what').textContent()).length > 5);
        const answer = page.locator('#answer');
        const chart = page.locator('.chart').first();
        if ((await answer.count()) > 0 && (await chart.count()) > 0) assert.ok((await answer.boundingBox()).y < (await chart.boundingBox()).y);
        const basis = page.locator('#basis');
        if ((await basis.count()) > 0) {
          assert.equal(await basis.getAttribute('open'), null, 'folded');
          assert.equal(await page.locator('#basis ~ section').count(), 0, 'nothing comes after it');
        }
      });

      if (!one.isThorough) return;

      checks(`draws all its charts, ${other[view.theme]}, and logs nothing`, async (page) => {
        await changeTheme(page, other[view.theme]);
        await drawsAll(page, one, { ...view, theme: other[view.theme] });
        await changeTheme(page, view.theme);
      });

      if (view === wide) answers(checks);
    });
  }
}
