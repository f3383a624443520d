// SPDX-License-Identifier: Apache-2.0
// The parts of a page outside its charts: navigation, headline numbers, warnings, provenance.
import type { Tie } from './document';
import { button, h, value, type Child } from './dom';
import { counted, percentText } from './format';
import type { PageDocument } from './page_document';
import { currentMode, setMode, type Mode } from './theme';

const modes: Record<Mode, { next: Mode; text: string }> = {
  auto: { next: 'light', text: '◐ Auto' },
  light: { next: 'dark', text: '☀ Light' },
  dark: { next: 'auto', text: '☾ Dark' },
};

function themeButton(): HTMLButtonElement {
  const toggle = button('', '', () => {
    setMode(modes[currentMode()].next);
    name();
  });
  toggle.id = 'theme';
  const name = (): void => {
    toggle.textContent = modes[currentMode()].text;
    const label = `Colours: ${currentMode()}; change to ${modes[currentMode()].next}`;
    toggle.setAttribute('aria-label', label);
    toggle.title = label;
  };
  name();
  return toggle;
}

/** The line at the top, with a link to each section. @param name what it begins with */
export function bar(data: PageDocument, parts: HTMLElement[], name: HTMLElement = h('span', { class: 'name' }, `gradway ${data.kind}`)): HTMLElement {
  const sections = parts.flatMap((part) => [part, ...part.querySelectorAll<HTMLElement>('section')]);
  const links = sections
    .filter((part) => part.id && part.querySelector(':scope > .about'))
    .map((part) => h('a', { href: `#${part.id}` }, part.querySelector('.about')!.textContent!));
  return h(
    'div',
    { class: 'bar' },
    name,
    h('nav', { 'aria-label': 'Sections' }, ...links, ...('site' in data && data.site ? data.site.links.map(([text, href]) => h('a', { href }, text)) : [])),
    themeButton(),
  );
}

export const footer = (data: PageDocument): HTMLElement =>
  h('footer', {}, `Written by gradway ${data.gradway}. This file is self-contained and opens without a network.`);

/** Shown first: a job that would run out of memory. */
export const misfit = (why: string): HTMLElement =>
  h('p', { class: 'box misfit', id: 'misfit', role: 'alert' }, h('strong', {}, `The job ${why}.`), ' The results below assume enough memory.');

/** "differences of up to 1.2 % are within the uncertainty" */
export const tieText = ({ runs, first_is_ahead: ahead, difference }: Tie): string => {
  if (difference === 0) return 'no difference is predicted';
  const percent = difference < 5e-4 ? 'less than 0.1 %' : percentText(difference);
  const sure = Math.min(99, Math.round(Math.max(...ahead) * 100));
  return runs.length === 2
    ? `the difference of ${percent} is within the uncertainty; the first is ahead with a probability of ${sure} %`
    : `differences of up to ${percent} are within the uncertainty; the first is ahead of each with a probability of up to ${sure} %`;
};

/** A subtitle: what was simulated, with the scenario's name. */
export const what = (parts: (string | false | undefined)[], data: PageDocument): string => [...parts, `scenario ${data.scenario}`].filter(Boolean).join(' · ');

/** The title and subtitle of a page. */
export const title = (text: string, done: string): HTMLElement => h('header', { class: 'top' }, h('h1', {}, text), h('p', { class: 'what' }, done));

export interface Tile {
  name: string;
  text: string;
  exact: unknown;
  notes?: Child[];
}

export function tiles(all: (Tile | false | null | undefined)[]): HTMLElement {
  return h(
    'dl',
    { class: 'tiles' },
    ...all.map(
      (tile) =>
        tile &&
        h(
          'div',
          { class: 'tile', 'data-tile': tile.name },
          h('dt', {}, tile.name),
          h('dd', { class: 'main' }, number(tile.text, tile.exact)),
          ...(tile.notes ?? []).map((note) => note && h('dd', { class: 'note' }, note)),
        ),
    ),
  );
}

/** The number large, its unit smaller. */
function number(text: string, exact: unknown): HTMLElement {
  const shown = value(text, exact);
  const match = /^(\S+)( .+)$/.exec(text);
  if (match) shown.replaceChildren(match[1]!, h('small', {}, match[2]!));
  return shown;
}

const items = (list: string[]): HTMLElement => h('ul', {}, ...list.map((text) => h('li', {}, text)));

/** Number of warnings that are shown open; more are folded. */
const most = 2;

/** The answer in one sentence, with its interval. */
export const answer = (text: string): HTMLElement => h('p', { class: 'answer', id: 'answer' }, text);

/** Each warning once. A few are open; more are folded under their number. */
export function warnings(list: string[]): HTMLElement | null {
  if (list.length === 0) return null;
  return h(
    'details',
    { class: 'box warnings', id: 'warnings', open: list.length <= most, 'data-print': true },
    h('summary', {}, counted(list.length, 'warning')),
    items(list),
  );
}

/** The provenance at the end of a page, folded. */
export function basis(list: string[], name = 'Provenance of the prediction'): HTMLElement | null {
  if (list.length === 0) return null;
  return h('details', { class: 'box', id: 'basis', 'data-print': true }, h('summary', {}, name), items(list));
}
