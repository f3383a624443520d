// SPDX-License-Identifier: Apache-2.0
// The page of a campaign: its timeline, parts, spread, intervals and tables against the document.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { chartOf, hoverUntil, ofKind, openedOnce, tableOf, valueOf } from './browser.mjs';

for (const one of ofKind('campaign').filter(({ data }) => data.campaign.plan.rounds)) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { estimate, moved_data: moved, plan } = one.data.campaign;

    checks('clients, their rounds, and the data in one place', async (page) => {
      const tiles = await page.locator('.tile .main .value').evaluateAll((all) => all.map((tile) => Number(tile.dataset.value)));
      assert.ok(tiles.includes(plan.steps / plan.rounds.inner_steps), 'how many rounds');
      const rows = await tableOf(page, 'clients');
      assert.deepEqual(rows.map((row) => row.slice(1, 4)), plan.rounds.classes.map((it) => [it.down_s, it.compute_s, it.up_s]));
      plan.rounds.classes.forEach((it, i) => assert.equal(rows[i][0], `${it.count} ${it.name}`));
      const taken = await page.locator('#moved tbody tr').evaluateAll((all) => all.map((row) => Number(row.cells[2].querySelector('[data-value]').dataset.value)));
      assert.deepEqual(taken, [estimate.mean_s, moved.moving_s, moved.moving_s + moved.training_s, moved.moving_s + moved.training_at_best_s]);
      assert.equal(await page.locator('#timeline').count(), 0, 'nobody interrupts it');
    });
  });
}

for (const one of ofKind('campaign').filter(({ data }) => !data.campaign.plan.rounds)) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { estimate, typical, histogram, interval, what_ifs: whatIfs, terms, definitions, plan } = one.data.campaign;

    checks("the tiles are the document's", async (page) => {
      const tiles = await page.locator('.tile .main .value').evaluateAll((all) => all.map((tile) => Number(tile.dataset.value)));
      assert.deepEqual(tiles, [estimate.seconds.median, estimate.usd.median, estimate.goodput.median, estimate.interruptions.median, plan.steps]);
    });

    checks('an interruption under the mouse, and each in the table', async (page) => {
      const tip = await hoverUntil(page, await chartOf(page, 'timeline'), (found) => valueOf(found, 'continues after') !== undefined, { columns: 90, rows: 60 });
      assert.ok(tip, 'no interruption was hit');
      assert.ok(typical.stops.some((stop) => stop.cause === tip.title && stop.from_s === valueOf(tip, 'at')));
      assert.equal((await tableOf(page, 'timeline')).length, typical.stops.length);
    });

    checks('the parts of the time and their sum', async (page) => {
      const rows = await tableOf(page, 'waterfall');
      const parts = Object.values(estimate.mean_buckets_s).filter((seconds) => seconds > 0);
      assert.deepEqual(rows.map((row) => row[1]), [...parts, estimate.mean_s]);
    });

    checks('the course: all spans in the table, and each figure that is not zero in the chart', async (page) => {
      const { course } = one.data.campaign;
      assert.deepEqual((await tableOf(page, 'course')).map((row) => row[1]), course.map((span) => span.rate_per_s));
      assert.match(await page.locator('#course .chart').getAttribute('aria-label'), /over time/);
    });

    checks('spread, intervals, what would help, terms and definitions', async (page) => {
      assert.deepEqual((await tableOf(page, 'spread')).map((row) => row[1]), histogram.map((bar) => bar.runs));
      assert.deepEqual((await tableOf(page, 'interval')).map((row) => row[1]), interval.curve.map((point) => point.goodput));
      assert.equal(await page.locator('#what-ifs tbody tr').count(), whatIfs.length);
      assert.equal(await page.locator('#terms tbody tr').count(), terms.length);
      assert.equal(await page.locator('#definitions dt').count(), Object.keys(definitions).length);
    });
  });
}
