// SPDX-License-Identifier: Apache-2.0
// The pages of sweeps, comparisons and validations: points, choices and tables against the document.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { chartOf, hoverUntil, ofKind, openedOnce, shot, tableOf, valueOf } from './browser.mjs';

for (const one of ofKind('sweep')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { runs, vary, fastest, cheapest, tied } = one.data.sweep;
    const good = runs.filter((run) => run.metrics && run.fits);

    const eachNumber = async (page) => {
      const chart = await chartOf(page, 'curves');
      const show = page.getByLabel('Show', { exact: true });
      const names = await show.locator('option').allTextContents();
      assert.ok(names.length >= 4, names.join());
      for (const name of names) {
        await show.selectOption({ label: name });
        const tip = await hoverUntil(page, chart, (found) => valueOf(found, name) !== undefined, { columns: 60, rows: 40 });
        assert.ok(tip, `no point of ${name} was hit`);
        const run = good.find((it) => vary.every(({ key }) => tip.rows.find((row) => row.label === key).text === it.set[key]));
        const expected = { 'step time': run.metrics.step_time_s, 'samples/s': run.metrics.samples_per_s, 'tokens/s': run.metrics.tokens_per_s, MFU: run.metrics.mfu, 'GPU busy': run.metrics.gpu_busy_fraction, 'exposed communication': run.metrics.exposed_communication_s / run.metrics.step_time_s, 'cost per million samples': run.metrics.cost_usd_per_million_samples, 'memory per GPU': run.metrics.peak_memory_bytes }[name];
        if (expected !== undefined) assert.equal(valueOf(tip, name), expected, name);
        await shot(page, `${one.name}-${name.replace(/\W+/g, '-')}`, {});
      }
    };
    if (one.isThorough) checks("each number that can be shown; a point under the mouse is the document's", eachNumber);

    checks("the best point is the document's; axes and forms can be chosen", async (page) => {
      await chartOf(page, 'curves');
      const heading = page.locator('#curves h2');
      if (typeof fastest === 'number') {
        await page.getByLabel('Show', { exact: true }).selectOption('samples');
        for (const value of Object.values(runs[fastest].set)) assert.ok((await heading.textContent()).includes(value));
      }
      if (typeof cheapest === 'number') {
        await page.getByLabel('Show', { exact: true }).selectOption('million');
        for (const value of Object.values(runs[cheapest].set)) assert.ok((await heading.textContent()).includes(value));
      }
      for (const [rank, measure] of [['fastest', 'samples'], ['cheapest', 'million'], ['shortest_step', 'step']]) {
        if (!tied[rank] && typeof one.data.sweep[rank] !== 'number') continue;
        await page.getByLabel('Show', { exact: true }).selectOption(measure);
        assert.equal((await heading.textContent()).includes('are tied in'), Boolean(tied[rank]), rank);
      }
      const misfits = runs.filter((run) => run.fits === false);
      assert.equal(await page.locator('#misfits li').count(), misfits.length);
      for (const run of misfits) assert.ok((await page.locator('#misfits').textContent()).includes(run.does_not_fit));
      if (vary.length > 1) {
        for (const { key } of vary) {
          await page.getByLabel('Across', { exact: true }).selectOption(key);
          for (const form of ['heat', 'curves']) {
            await page.getByLabel('As', { exact: true }).selectOption(form);
            assert.ok((await page.locator('#curves svg path').count()) > 0);
            await shot(page, `${one.name}-${key}-${form}`, {});
          }
        }
        await page.getByLabel('By', { exact: true }).selectOption('');
        assert.equal(await page.getByLabel('As', { exact: true }).count(), 0);
      }
      if (runs.length > 500) {
        assert.equal(await page.locator('#points tbody tr').count(), 500);
        await page.locator('#points .more').click();
        assert.equal(await page.locator('#points tbody tr').count(), Math.min(1000, runs.length));
      }
      const rows = await tableOf(page, 'curves');
      assert.equal(rows.length, Math.min(500, runs.length));
      rows.forEach((row, i) => runs[i].metrics && runs[i].fits && assert.equal(row[vary.length], runs[i].metrics.step_time_s));
      const words = (text) => text.split(/\s+/).join(' ').trim();
      for (const run of runs.filter((it) => !it.metrics)) assert.ok(words(await page.locator('#failed').innerText()).includes(words(run.error)), 'a failed point gives its reason');
    });
  });
}

for (const one of ofKind('compare')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { runs, left_out: leftOut } = one.data.compare;
    const priced = runs.filter((run) => run.metrics.cost_usd_per_million_samples !== null);
    const name = (run) => `${run.scenario.platform}, ${run.scenario.job.gpus} GPU${run.scenario.job.gpus === 1 ? '' : 's'}${run.metrics.idle_gpus ? ` and ${run.metrics.idle_gpus} idle` : ''}`;

    checks('cost against time, as the document has it', async (page) => {
      const chart = await chartOf(page, 'cost');
      const tip = await hoverUntil(page, chart, (found) => valueOf(found, 'cost per million samples') !== undefined, { columns: 90, rows: 60 });
      assert.ok(tip, 'no run was hit');
      const run = runs.find((it) => name(it) === tip.title);
      assert.equal(valueOf(tip, 'cost per million samples'), run.metrics.cost_usd_per_million_samples);
      assert.ok([run.metrics.step_time_s, run.metrics.samples_per_s].includes(valueOf(tip, 'step time') ?? valueOf(tip, 'samples/s')));
      await shot(page, `${one.name}-cost-hover`, {});
      for (const label of ['Cost', 'Time']) {
        const select = page.locator('#cost').getByLabel(label, { exact: true });
        for (const id of await select.locator('option').evaluateAll((all) => all.map((option) => option.value))) await select.selectOption(id);
      }
    }, priced.length === 0);

    checks('steps, table, marks and what was left out', async (page) => {
      assert.equal(await page.locator('#cost').count(), priced.length > 0 ? 1 : 0, 'no prices, no chart of them');
      const tip = await hoverUntil(page, await chartOf(page, 'steps'), (found) => valueOf(found, 'step time') !== undefined, { columns: 30, rows: 40 });
      const run = runs.find((it) => name(it) === tip.title);
      assert.equal(valueOf(tip, 'step time'), run.metrics.step_time_s);
      assert.equal(valueOf(tip, 'compute'), tip.rows[0].label === 'compute' ? run.metrics.compute_s : undefined);
      const rows = await page.locator('#runs tbody tr').evaluateAll((all) => all.map((row) => [row.cells[0].textContent, ...[...row.querySelectorAll('[data-value]')].map((cell) => Number(cell.dataset.value))]));
      assert.equal(rows.length, runs.length);
      rows.forEach(([platform, gpus, step], i) => {
        assert.ok(platform.startsWith(runs[i].scenario.platform));
        assert.deepEqual([gpus, step], [runs[i].scenario.job.gpus, runs[i].metrics.step_time_s]);
        for (const what of ['speed', 'cost']) assert.equal(platform.includes(`tied in ${what}`), runs[i].costs.tied.includes(what));
        for (const [key, mark] of [['fastest', 'fastest'], ['cheapest', 'cheapest'], ['pareto', 'Pareto']]) assert.equal(platform.includes(mark), Boolean(runs[i].costs[key]), `${platform}: ${mark}`);
      });
      assert.equal(await page.locator('#evidence').count(), one.data.compare.mixed_evidence ? 1 : 0);
      for (const it of leftOut) assert.ok((await page.locator('#left-out').textContent()).includes(it.reason));
    });
  });
}

for (const one of ofKind('validate')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { cases, ...all } = one.data.validate;

    checks("each case is the document's, hovered in both charts and in the table", async (page) => {
      const byName = new Map(cases.map((it) => [it.name, it]));
      for (const section of ['predicted', 'errors']) {
        const tip = await hoverUntil(page, await chartOf(page, section), (found) => byName.has(found.title), { columns: 90, rows: 60 });
        assert.ok(tip, `no case was hit in ${section}`);
        const it = byName.get(tip.title);
        assert.deepEqual(['measured', 'predicted', 'error'].map((label) => valueOf(tip, label)), [it.measured_s, it.predicted_s, it.error]);
        await shot(page, `${one.name}-${section}-hover`, {});
      }
      const rows = await tableOf(page, 'predicted');
      assert.deepEqual(rows.map((row) => [row[0], row[1], row[2], row[4]]), cases.map((it) => [it.name, it.measured_s, it.predicted_s, it.error]));
      const tiles = await page.locator('.tile .main .value').evaluateAll((found) => found.map((tile) => Number(tile.dataset.value)));
      assert.deepEqual(tiles, [all.mean_abs_error, all.median_abs_error, all.max_abs_error, all.in_interval, all.bias]);
      if (all.source) assert.ok((await page.locator('header').innerText()).includes(all.source));
    });
  });
}
