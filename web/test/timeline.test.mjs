// SPDX-License-Identifier: Apache-2.0
// The timeline: hovers, clicks, zooms and keys, each against the slices of the document.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { chartOf, hoverUntil, ofKind, openedOnce, shot, tableOf, valueOf } from './browser.mjs';

const range = (chart) => chart.evaluate((area) => ({ from: Number(area.dataset.from), to: Number(area.dataset.to) }));
const span = ({ from, to }) => to - from;
const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

for (const one of ofKind('run').filter(({ data, isThorough }) => isThorough && data.timeline.slices.length > 0)) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { timeline } = one.data;
    const whole = span({ from: timeline.step.from_us, to: timeline.step.to_us });

    checks('the table has the slices in sight, as the document has them', async (page) => {
      const rows = await tableOf(page, 'timeline');
      assert.ok(rows.length > 0 && rows.length <= 500);
      const all = new Set(timeline.slices.map(([row, from, duration, name]) => `${timeline.rows[row].rank} ${timeline.rows[row].stream} ${timeline.names[name]} ${from} ${duration}`));
      for (const [rank, stream, name, , from, duration] of rows) assert.ok(all.has(`${rank} ${stream} ${name} ${from} ${duration}`), `${name} at ${from}`);
    });

    checks("a slice under the mouse tells the document's numbers, a click keeps them", async (page) => {
      const chart = await chartOf(page, 'timeline');
      const tip = await hoverUntil(page, chart, (found) => valueOf(found, 'start') !== undefined, { columns: 60, rows: 30 });
      assert.ok(tip, 'no slice was hit');
      const slice = timeline.slices.find((it) => timeline.names[it[3]] === tip.title && it[1] === valueOf(tip, 'start') && it[2] === valueOf(tip, 'duration'));
      assert.ok(slice, `no such slice: ${JSON.stringify(tip)}`);
      assert.equal(tip.rows.find((row) => row.label === 'phase').text, timeline.phases[slice[4]]);
      await page.mouse.down();
      await page.mouse.up();
      const pinned = page.locator('.pinned');
      await pinned.waitFor({ state: 'visible' });
      assert.equal(await pinned.locator('strong').textContent(), tip.title);
      assert.deepEqual(await pinned.locator('[data-value]').evaluateAll((all) => all.slice(0, 2).map((it) => Number(it.dataset.value))), [slice[1], slice[2]]);
      await shot(page, `${one.name}-pinned`, {});
    });

    checks('it starts with the reported step; wheel, drag, keys and buttons move it', async (page) => {
      const chart = await chartOf(page, 'timeline');
      const box = await chart.boundingBox();
      const start = await range(chart);
      near(start.from, timeline.step.from_us, whole * 1e-6);
      near(start.to, timeline.step.to_us, whole * 1e-6);

      await page.waitForTimeout(400); // the page was scrolled: the wheel would go on scrolling it
      await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
      await page.mouse.wheel(0, -300);
      await page.waitForFunction(([area, was]) => area.dataset.to - area.dataset.from < was * 0.9, [await chart.elementHandle(), whole]);
      const zoomed = await range(chart);
      assert.ok(zoomed.from > start.from && zoomed.to < start.to, 'about the mouse');

      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.5 - 120, box.y + 30, { steps: 6 });
      await page.mouse.up();
      const dragged = await range(chart);
      assert.ok(dragged.from > zoomed.from, 'dragged to the left, later things come into sight');
      near(span(dragged), span(zoomed), whole * 1e-3);

      await chart.focus();
      await page.keyboard.press('Home');
      near((await range(chart)).from, start.from, whole * 1e-6);
      await page.keyboard.press('+');
      await page.keyboard.press('+');
      const keyed = await range(chart);
      near(span(keyed), whole * 0.36, whole * 1e-3);
      await page.keyboard.press('ArrowRight');
      assert.ok((await range(chart)).from > keyed.from);
      await page.keyboard.press('ArrowLeft');
      near((await range(chart)).from, keyed.from, whole * 1e-3);
      await page.keyboard.press('-');
      near(span(await range(chart)), whole * 0.6, whole * 1e-3);

      await page.getByRole('button', { name: 'The reported step (Home)' }).click();
      near(span(await range(chart)), whole, whole * 1e-6);
      await page.getByRole('button', { name: 'Zoom in (+)' }).click();
      near(span(await range(chart)), whole / 2, whole * 1e-3);

      await chart.focus();
      await page.keyboard.press('n');
      const first = await page.locator('.pinned [data-value]').first().getAttribute('data-value');
      await page.keyboard.press('n');
      const second = await page.locator('.pinned [data-value]').first().getAttribute('data-value');
      assert.ok(Number(second) >= Number(first));
      await shot(page, `${one.name}-zoomed`, {});
    });
  });
}
