// SPDX-License-Identifier: Apache-2.0
// A headless browser without a network that remembers everything a page should not do: Chromium, or Firefox if BROWSER says so.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import playwright from 'playwright-core';

const { _bidiFirefox, chromium } = playwright;
const folder = resolve(process.env.GRADWAY_PAGES);
const flags = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
/** Of a machine that other work keeps busy: what hooks wait for, without which all tests after them are cancelled. */
const patience = { timeout: 120000 };
const tag = /<script id="data" type="application\/json">([^]*?)<\/script>/;
const packed = /<script id="(?:engine|files)" type="text\/plain">([^]*?)<\/script>/g;

/** The points of a sweep: what their columns say of each. */
function runsOf({ vary, columns }) {
  const sets = vary.reduce((all, { key, values }) => all.flatMap((set) => values.map((value) => ({ ...set, [key]: value }))), [{}]);
  return sets.map((set, i) => {
    const of = (path) => {
      const column = columns.find((one) => one.path === path);
      const value = column?.values[i] ?? null;
      return value === null ? undefined : column.distinct ? column.distinct[value] : value;
    };
    const metrics = Object.fromEntries(columns.map(({ path }) => path.split('/')).filter(([, group]) => group === 'metrics').map(([, , name]) => [name, of(`/metrics/${name}`)]));
    const error = of('/error');
    return error === undefined ? { set, metrics, fits: of('/fits'), does_not_fit: of('/does_not_fit') } : { set, error };
  });
}

/** All pages of the folder with their documents. To save time those called also-*.html are only opened, and of those called
 * brief-*.html only what is special about them is tested. */
export const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.html'))
  .sort()
  .map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const found = tag.exec(text);
    const data = JSON.parse(found[1]);
    if (data.kind === 'sweep') data.sweep.runs = runsOf(data.sweep);
    return { name: name.slice(0, -5), isThorough: !/^(also|brief)-/.test(name), isOnlyOpened: name.startsWith('also-'), url: pathToFileURL(join(folder, name)).href, text, data, dataSize: found[1].length, engineSize: [...text.matchAll(packed)].reduce((sum, [, part]) => sum + part.length, 0) };
  });

/** Pages to test; those that are not thorough only for what is special about them. */
export const ofKind = (kind) => pages.filter(({ data, isOnlyOpened }) => data.kind === kind && !isOnlyOpened);

/** Playwright drives Debian's Firefox by WebDriver BiDi only. */
export const isFirefox = process.env.BROWSER === 'firefox';
export const launch = () => (isFirefox ? _bidiFirefox.launch({ executablePath: process.env.FIREFOX, headless: true }) : chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: flags }));

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** For a `describe`: a page that is opened once, and a function that adds a test of it, which may skip. Each gets the page as the one
 * before left it. */
export function openedOnce(one, view) {
  let opened;
  before(async () => (opened = await open(one, view)));
  after(() => opened.close());
  return (what, run, skip = false) =>
    test(what, { skip }, async () => {
      await run(opened.page, opened.wrongs);
      assert.deepEqual(opened.wrongs, []);
    });
}

/** A page opened without a network, or with its server alone; `wrongs` gathers errors and requests, and must stay empty. */
export async function open(one, { width = 1280, height = 900, theme = 'light', touch = false } = {}) {
  const isServed = one.url.startsWith('http:');
  const isOwn = (url) => url.replace(/#.*/, '') === one.url || (isServed && url.startsWith(one.url));
  const context = await browser.newContext({ offline: !isServed, viewport: { width, height }, colorScheme: theme, hasTouch: touch, deviceScaleFactor: 1 });
  const page = await context.newPage();
  const wrongs = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrongs.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => wrongs.push(`error: ${error.stack ?? error}`));
  page.on('request', (request) => !isOwn(request.url()) && !/^(data|blob):/.test(request.url()) && wrongs.push(`request: ${request.url()}`));
  await page.goto(one.url, patience);
  await page.waitForSelector('html[data-ready]', patience);
  return { page, wrongs, close: () => context.close() };
}

/** A picture to look at, if SHOTS names a folder. */
export async function shot(page, name, options = { fullPage: true }) {
  const shots = process.env.SHOTS;
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), ...options });
}

/** The middle of the element that a section's chart is drawn on, in sight. */
export async function chartOf(page, section) {
  const chart = page.locator(`#${section} .chart`).first();
  await chart.scrollIntoViewIfNeeded();
  return chart;
}

/** What the visible tooltip says: its title, and by label [text, the document's number]. */
export async function tipOf(chart) {
  return chart.evaluate((area) => {
    const tip = [...area.querySelectorAll('.tip')].find((one) => one.parentElement.style.visibility !== 'hidden' && one.getClientRects().length > 0 && getComputedStyle(one.parentElement).opacity !== '0');
    if (!tip) return null;
    const rows = [...tip.querySelectorAll('td')].map((cell) => ({ label: cell.dataset.label, text: cell.textContent, value: cell.dataset.value === undefined ? undefined : Number(cell.dataset.value) }));
    return { title: tip.querySelector('strong').textContent, rows };
  });
}

/** The value of a tooltip's row. */
export const valueOf = (tip, label) => tip.rows.find((row) => row.label === label)?.value;

/** Where small things are drawn: the middles of the picture's paths. */
const drawnAt = (chart) =>
  chart.evaluate((area) =>
    [...area.querySelectorAll('svg path')]
      .filter((path) => (path.getAttribute('fill') ?? 'none') !== 'none' || path.getAttribute('stroke-width') > 1)
      .map((path) => path.getBoundingClientRect())
      .filter(({ width, height }) => width + height > 4 && Math.min(width, height) < 80)
      .map(({ x, y, width, height }) => [x + width / 2, y + height / 2])
      .slice(0, 120),
  );

/** Moves the mouse over the chart, to what is drawn and then from point to point of a grid, until a tooltip fits. */
export async function hoverUntil(page, chart, fits, { columns = 24, rows = 12 } = {}) {
  const box = await chart.boundingBox();
  for (const point of await drawnAt(chart)) {
    await page.mouse.move(...point);
    const tip = await tipOf(chart);
    if (tip && fits(tip)) return tip;
  }
  const all = [];
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) all.push([box.x + ((column + 0.5) / columns) * box.width, box.y + ((row + 0.5) / rows) * box.height]);
  }
  // A stride without a common divisor visits each point once, far from the last.
  const stride = [...Array(all.length).keys()].slice(Math.floor(all.length * 0.382)).find((n) => divisor(n, all.length) === 1) ?? 1;
  for (let i = 0, at = 0; i < all.length; ++i, at = (at + stride) % all.length) {
    await page.mouse.move(...all[at]);
    const tip = await tipOf(chart);
    if (tip && fits(tip)) return tip;
  }
  return null;
}

const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));

/** The rows of a section's table: each cell as its number where it has one, else its text. */
export async function tableOf(page, section) {
  const details = page.locator(`#${section} details.as-table`).first();
  await details.locator('summary').click();
  await details.locator('tbody tr').first().waitFor();
  return details.evaluate((one) =>
    [...one.querySelectorAll('tbody tr')].map((row) =>
      [...row.cells].map((cell) => {
        const exact = cell.querySelector('[data-value]');
        return exact ? Number(exact.dataset.value) : cell.textContent;
      }),
    ),
  );
}
