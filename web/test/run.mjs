// SPDX-License-Identifier: Apache-2.0
// Runs the tests of the page in headless Chromium:  GRADWAY_PAGES=FOLDER node test/run.mjs
//
// GRADWAY_PAGES  folder with pages that gradway wrote (any *.html; their kind is read from their document)
// CHROMIUM       the browser; /usr/bin/chromium if not given
// SHOTS          folder for screenshots; none are taken if not given
// Exit status 77 if what the tests need is not here, loudly.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const pages = process.env.GRADWAY_PAGES ?? '';

function missing() {
  if (!existsSync(join(here, '..', 'node_modules', 'playwright-core'))) return 'playwright-core (npm ci --prefix web)';
  if (!existsSync(chromium)) return `${chromium} (apt-get install chromium, or set CHROMIUM)`;
  return '';
}

const what = missing();
if (what) {
  console.error(`SKIPPED: the page was not tested: there is no ${what}`);
  process.exit(77);
}
if (!pages || !existsSync(pages) || !readdirSync(pages).some((name) => name.endsWith('.html'))) {
  console.error('there are no pages to test: set GRADWAY_PAGES to a folder of them');
  process.exit(1);
}
const tests = readdirSync(here).filter((name) => name.endsWith('.test.mjs')).map((name) => join(here, name)).sort();
const { status } = spawnSync(process.execPath, ['--test', ...tests], { stdio: 'inherit', env: { ...process.env, CHROMIUM: chromium } });
process.exit(status ?? 1);
