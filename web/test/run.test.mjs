// SPDX-License-Identifier: Apache-2.0
// The page of a run: headline, charts and tables against the report that is in it.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { chartOf, hoverUntil, ofKind, openedOnce, shot, tableOf, valueOf } from './browser.mjs';

const arrows = (name) => name.replace(/ -> /g, ' → ');
const parts = { compute: 'compute_s', 'exposed communication': 'exposed_communication_s', 'input wait': 'input_wait_s', optimizer: 'optimizer_s', 'launch-bound': 'launch_bound_s', idle: 'idle_s' };

for (const one of ofKind('run')) {
  describe(one.name, () => {
    const checks = openedOnce(one);
    const { report, platform, buckets, use } = one.data;
    const { metrics } = report;

    checks("the headline has the report's numbers, and warnings stand above the charts", async (page) => {
      const tile = async (name) => {
        const shown = page.locator(`[data-tile="${name}"] .main .value`);
        return (await shown.count()) ? Number(await shown.getAttribute('data-value')) : undefined;
      };
      assert.equal(await tile(report.fits ? 'Step time' : 'Would take'), metrics.step_time_s);
      assert.equal(await page.locator('#misfit').count(), report.fits ? 0 : 1);
      if (!report.fits) {
        assert.ok((await page.locator('#misfit').textContent()).includes(report.does_not_fit));
        const [banner, heading] = await Promise.all([page.locator('#misfit').boundingBox(), page.locator('h1').boundingBox()]);
        assert.ok(banner.y < heading.y, 'what does not fit is said first');
      }
      assert.equal(await tile('Exposed communication'), metrics.exposed_communication_s);
      assert.equal(await tile('Memory per GPU'), metrics.peak_memory_bytes);
      assert.equal(await tile('Bus bandwidth'), metrics.bus_bandwidth_bytes_per_s);
      if (report.scenario.strategy.kind !== 'collective') {
        assert.equal(await tile('Throughput'), metrics.samples_per_s);
        assert.equal(await tile('GPU busy'), metrics.gpu_busy_fraction);
        const notes = async (name) => page.locator(`[data-tile="${name}"]`).textContent();
        assert.equal((await notes('Throughput')).includes('tokens/s'), metrics.tokens_per_s !== null);
        assert.equal((await notes('GPU busy')).includes('MFU'), metrics.mfu !== null);
        if (report.training) assert.equal(await tile('Training'), report.training.seconds);
      }
      if (metrics.cost_usd_per_hour === null || report.fits === false) assert.equal(await page.locator('[data-tile="Cost"] .main').textContent(), '–');
      else assert.equal(await tile('Cost'), metrics.cost_usd_per_hour);
      const listed = async (id) => page.locator(`#${id} li`).evaluateAll((all) => all.map((item) => item.textContent));
      const warned = report.warnings.map((text, i) => `${text} [${report.warning_codes[i]}]`);
      assert.deepEqual(await listed('warnings'), warned);
      assert.deepEqual(await listed('basis'), report.basis);
      if (report.warnings.length > 0) {
        const [above, charted] = await Promise.all([page.locator('#warnings').boundingBox(), page.locator('.chart').first().boundingBox()]);
        assert.ok(above.y < charted.y);
        if (report.warnings.length <= 2) assert.equal(await page.locator('#warnings').getAttribute('open'), '', 'few warnings are open');
      }
      assert.ok((await page.locator('#bottleneck').textContent()).includes(arrows(report.bottleneck.resource)));
    });

    checks('time begins with the reported step', async () => {
      const { timeline } = one.data;
      assert.equal(timeline.step.from_us, 0);
      assert.ok(Math.abs(timeline.step.to_us - metrics.step_time_s * 1e6) <= timeline.step.to_us * 1e-6);
      for (const bucket of buckets) assert.ok(bucket.ready_us >= 0 && bucket.ready_us <= bucket.start_us && bucket.end_us <= timeline.step.to_us, JSON.stringify(bucket));
      for (const link of use) assert.equal(link.points[0][0], 0);
    });

    const { pipeline } = one.data;
    if (pipeline) {
      checks('the stages of a pipeline side by side, and the passes of its micro-batches', async (page) => {
        const rows = await tableOf(page, 'stages');
        assert.equal(rows.length, report.programs.length);
        for (const [i, program] of report.programs.entries()) {
          assert.equal(rows[i][0], program.name);
          assert.deepEqual([rows[i][2], rows[i][7]], [program.compute_s, program.idle_s]);
          assert.equal(rows[i].at(-1), program.memory.needed_bytes);
        }
        const hit = await hoverUntil(page, await chartOf(page, 'pipeline'), (found) => found.title.includes('of micro-batch'), { columns: 60, rows: 24 });
        assert.ok(hit, 'no pass was hit');
        assert.ok(pipeline.passes.some((pass) => pass[1] === valueOf(hit, 'start') && pass[2] === valueOf(hit, 'takes')), JSON.stringify(hit));
        const { accumulate } = report.scenario.job;
        assert.equal(pipeline.passes.length, pipeline.stages.length * pipeline.chunks * accumulate * 2, 'each micro-batch passes each chunk twice');
        await shot(page, `${one.name}-pipeline`, { fullPage: true });
      });
    }

    if (!one.isThorough) return;

    checks('the parts of the step, hovered and as a table', async (page) => {
      const chart = await chartOf(page, 'step');
      const tip = await hoverUntil(page, chart, (found) => found.title in parts, { columns: 30, rows: 12 });
      assert.ok(tip, 'no part was hit');
      assert.equal(valueOf(tip, 'time'), metrics[parts[tip.title]]);
      await shot(page, `${one.name}-step-hover`, {});
      const rows = Object.fromEntries((await tableOf(page, 'step')).map(([name, seconds]) => [name, seconds]));
      for (const [name, key] of Object.entries(parts)) assert.equal(rows[name], metrics[key], name);
    });

    checks('the platform, its links and devices', async (page) => {
      const chart = await chartOf(page, 'platform');
      const directions = new Map(platform.links.flatMap((link) => [link.there, link.back]).map((way) => [`${arrows(way.name)}: busy`, way]));
      const tip = await hoverUntil(page, chart, (found) => found.rows.some((row) => directions.has(row.label)) && !platform.devices.some(({ name }) => found.title.startsWith(`${name},`)), { columns: 70, rows: 40 });
      assert.ok(tip, 'no link was hit');
      const both = tip.rows.filter((row) => directions.has(row.label));
      assert.equal(both.length, 2, 'both directions');
      for (const row of both) assert.equal(row.value, directions.get(row.label).busy_fraction);
      const bytes = tip.rows.filter((row) => row.label === 'carried per step').map((row) => row.value);
      assert.deepEqual(bytes, both.map((row) => directions.get(row.label).bytes));
      await shot(page, `${one.name}-link-hover`, {});
      const rows = await tableOf(page, 'platform');
      assert.equal(rows.length, platform.links.length * 2 + platform.memories.length);
      const all = new Map([...platform.links.flatMap((link) => [link.there, link.back]), ...platform.memories].map((way) => [arrows(way.name), way]));
      for (const [name, , busy, carried] of rows) {
        assert.equal(busy, all.get(name).busy_fraction, name);
        assert.equal(carried, all.get(name).bytes, name);
      }
      if (platform.nodes_shown < platform.nodes) assert.match(await page.locator('#platform').innerText(), new RegExp(`first ${platform.nodes_shown} of ${platform.nodes} nodes`));
    });

    checks('links, use over time, buckets and memory', async (page) => {
      const links = await chartOf(page, 'links');
      const byName = new Map(report.links.map((link) => [arrows(link.name), link]));
      const tip = await hoverUntil(page, links, (found) => byName.has(found.title));
      assert.ok(tip, 'no link was hit');
      assert.equal(valueOf(tip, 'busy'), byName.get(tip.title).busy_fraction);
      assert.equal(valueOf(tip, 'carried per step'), byName.get(tip.title).bytes);
      for (const [name, busy, bytes] of await tableOf(page, 'links')) assert.deepEqual([busy, bytes], [byName.get(name).busy_fraction, byName.get(name).bytes]);

      if (use.length > 0) {
        const over = await hoverUntil(page, await chartOf(page, 'use'), (found) => valueOf(found, 'used') !== undefined);
        assert.ok(over, 'no use was hit');
        const points = use.find((it) => arrows(it.name) === over.title).points;
        assert.ok(points.some(([us, used]) => us === valueOf(over, 'from') && used === valueOf(over, 'used')), JSON.stringify(over));
      }
      if (buckets.length > 0) {
        const hit = await hoverUntil(page, await chartOf(page, 'buckets'), (found) => found.title.startsWith('bucket '), { columns: 60, rows: 40 });
        const drawn = buckets.some((bucket) => bucket.end_us > bucket.start_us);
        assert.ok(hit || !drawn, 'no bucket was hit');
        if (hit) {
          const bucket = buckets[Number(/\d+/.exec(hit.title)[0])];
          assert.deepEqual(['size', 'ready', 'start', 'end'].map((label) => valueOf(hit, label)), [bucket.size_bytes, bucket.ready_us, bucket.start_us, bucket.end_us]);
        }
        const rows = await tableOf(page, 'buckets');
        assert.deepEqual(rows.map((row) => [row[1], row[4], row[5], row[6]]), buckets.map((it) => [it.size_bytes, it.ready_us, it.start_us, it.end_us]));
      }
      const memory = await tableOf(page, 'memory');
      assert.equal(memory.at(-1)[1], report.memory.needed_bytes);
    }, report.links.length === 0);
  });
}
