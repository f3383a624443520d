// SPDX-License-Identifier: Apache-2.0
// Runs the tests of the page in headless Chromium, and some of them in Firefox:  GRADWAY_PAGES=FOLDER node test/run.mjs
//
// GRADWAY_PAGES  folder with pages that gradway wrote (any *.html; their kind is read from their document)
// CHROMIUM       the browser; /usr/bin/chromium if not given
// FIREFOX        the other browser; /usr/bin/firefox-esr if not given. Without it its tests are left out, loudly
// GRADWAY_SITE   folder that scripts/site wrote; without it the site is not tested
// SHOTS          folder for screenshots; none are taken if not given
// Exit status 77 if what the tests need is not here, loudly.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const firefox = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
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
/** Exit status of the tests in these files. */
const run = (files, more) => spawnSync(process.execPath, ['--test', ...files.map((name) => join(here, name))], { stdio: 'inherit', env: { ...process.env, ...more } }).status ?? 1;

const inFirefox = ['firefox.test.mjs', 'site.test.mjs', 'what_if.test.mjs'];
const inChromium = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && name !== 'firefox.test.mjs').sort();
let status = run(inChromium, { CHROMIUM: chromium });
if (existsSync(firefox)) status ||= run(inFirefox, { BROWSER: 'firefox', FIREFOX: firefox });
else console.error(`SKIPPED in part: pages were not tested in Firefox: there is no ${firefox} (apt-get install firefox-esr, or set FIREFOX)`);
process.exit(status);
