// SPDX-License-Identifier: Apache-2.0
// The pages of what bounds a job, of the best settings and of the best layouts, against their documents.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ofKind, openedOnce, tableOf } from './browser.mjs';

for (const one of ofKind('explain')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { report, explain, commands } = one.data;

    checks('each what-if is in the chart, the table and the commands', async (page) => {
      const rows = await tableOf(page, 'help');
      assert.deepEqual(rows.map((row) => row.slice(1, 3)), explain.counterfactuals.map((it) => [it.step_time_s, it.gain]));
      for (const it of explain.counterfactuals) assert.ok((await page.locator('#help .chart').innerText()).includes(it.words), it.words);
      const lines = (await page.locator('#try pre').textContent()).split('\n');
      assert.equal(lines.length, explain.counterfactuals.filter((it) => !it.bound).length);
      assert.deepEqual(lines, commands);
      for (const line of lines) assert.match(line, /^gradway run .* --set /);
      assert.ok((await page.locator('#bottleneck').textContent()).includes(report.bottleneck.resource.replace(/ -> /g, ' → ')));
      assert.equal(await page.locator('#evidence li').count(), explain.evidence.length);
    });
  });
}

for (const one of ofKind('optimize')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const found = one.data.optimize;

    checks('the settings, the verdict and the code', async (page) => {
      const tried = ['best', 'fastest', 'defaults', 'as_written'].map((key) => found[key]).filter(Boolean);
      assert.deepEqual((await tableOf(page, 'settings')).map((row) => row[1]), tried.map((it) => it.step_time_s));
      assert.ok((await page.locator('#answer').textContent()).includes(found.verdict.slice(1)));
      assert.equal((await page.locator('#code pre').textContent()).trim(), found.pytorch.trim());
      if (found.bucket_caps) assert.equal((await tableOf(page, 'caps')).length, found.bucket_caps.points.length);
    });
  });
}

for (const one of ofKind('layouts')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const found = one.data.layouts;

    checks('each layout is in the table, the best in the answer, its settings to paste', async (page) => {
      const rows = await page.locator('#table tbody tr').evaluateAll((all) => all.map((row) => [row.cells[1], row.cells[5]].map((cell) => Number(cell.querySelector('[data-value]').dataset.value))));
      assert.deepEqual(rows, found.layouts.map((it) => [it.step_time_s, it.memory_needed_bytes]));
      assert.equal(await page.locator('#table .badge').count(), found.layouts.filter((it) => it.tied_with_fastest).length);
      assert.equal((await page.locator('#code pre').textContent()).trim(), (found.megatron ?? found.torchtitan).trim());
    });
  });
}
