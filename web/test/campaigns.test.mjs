// SPDX-License-Identifier: Apache-2.0
// The page of campaigns side by side: its tiles and its table against the document.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { chartOf, hoverUntil, ofKind, openedOnce, tableOf, valueOf } from './browser.mjs';

for (const one of ofKind('campaigns')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { runs, best, limits } = one.data.campaigns;

    checks('the best is that of the document', async (page) => {
      const value = await page.locator('.tile .main .value').first().evaluate((tile) => Number(tile.dataset.value));
      assert.equal(value, runs[best].estimate.usd.median);
    });

    checks('a campaign under the mouse', async (page) => {
      const tip = await hoverUntil(page, await chartOf(page, 'days-dollars'), (found) => valueOf(found, 'costs') !== undefined, { columns: 90, rows: 60 });
      assert.ok(tip, 'no campaign was hit');
      assert.ok(runs.some((run) => run.estimate?.usd?.median === valueOf(tip, 'costs')));
    });

    checks('each campaign is in the table, with what it misses', async (page) => {
      const rows = page.locator('#runs tbody tr');
      assert.equal(await rows.count(), runs.length);
      const late = runs.filter((run) => run.limits?.late_s > 0).length;
      assert.ok(limits.deadline_s > 0 && late > 0, 'one of the test is late');
      assert.equal(await page.locator('#runs tbody tr', { hasText: ' late, met by' }).count(), late);
      assert.equal((await tableOf(page, 'days-dollars')).length, runs.length);
    });
  });
}
