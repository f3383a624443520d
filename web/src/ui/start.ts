// SPDX-License-Identifier: Apache-2.0
// The list of scenarios, and files of the reader's own.
import { section } from '../chart';
import { button, h } from '../dom';
import { counted } from '../format';
import { title } from '../header';
import type { UiDocument } from './document';
import { chooser, fileNames, forget, isScenario } from './own_files';
import { addressOf, listOfScenarios } from './place';
import type { Server } from './server';

interface Listed {
  name: string;
  inMemory: boolean;
}

/** Descriptions of the scenarios by name, which the server knows after it has read them all. */
let descriptions: Promise<Map<string, string>> | undefined;

async function described(server: Server): Promise<Map<string, string>> {
  const answer = await server.ask('scenarios', { scenario: '', set: [] }, new AbortController().signal);
  if (!answer || answer.status !== 0) return new Map(); // the names are enough to choose one
  const { scenarios } = JSON.parse(answer.text) as { scenarios: { name: string; description: string }[] };
  return new Map(scenarios.map(({ name, description }) => [name, description]));
}

/** Groups of scenarios, of which those are shown that contain every word of the filter. */
function list(groups: { name: string; all: Listed[] }[], server: Server): HTMLElement {
  const items = groups.flatMap(({ all }) => all).map((one) => {
    const about = h('span', { class: 'hint' });
    const element = h('li', {}, h('a', { href: addressOf({ ...listOfScenarios, scenario: one.name, inMemory: one.inMemory }) }, one.name), ' ', about);
    return { one, about, element };
  });
  const parts = groups.filter(({ all }) => all.length > 0).map(({ name, all }) => {
    const own = items.filter(({ one }) => all.includes(one)).map(({ element }) => element);
    return { own, element: h('div', {}, h('h3', {}, name), h('ul', { class: 'scenarios' }, ...own)) };
  });
  const filter = h('input', { type: 'search', placeholder: 'llama p5', autocomplete: 'off', 'aria-label': 'Filter by words' });
  const found = h('p', { class: 'hint', role: 'status' });
  const update = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { one, about, element } of items) {
      const text = `${one.name} ${about.textContent}`.toLowerCase();
      element.hidden = !words.every((word) => text.includes(word));
    }
    for (const { own, element } of parts) element.hidden = own.every(({ hidden }) => hidden);
    const shown = items.filter(({ element }) => !element.hidden).length;
    found.textContent = words.length === 0 ? counted(items.length, 'scenario') : `${shown} of ${counted(items.length, 'scenario')}`;
  };
  filter.addEventListener('input', update);
  filter.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') items.find(({ element }) => !element.hidden)?.element.querySelector('a')!.click();
  });
  descriptions ??= described(server);
  void descriptions.then((texts) => {
    for (const { one, about } of items) if (!one.inMemory) about.textContent = texts.get(one.name) ?? '';
    update();
  });
  update();
  return h('div', {}, h('div', { class: 'controls' }, h('label', { class: 'choice' }, h('span', {}, 'Filter by words; Enter opens the first'), filter), found), ...parts.map(({ element }) => element));
}

/** @param chosen called with the scenarios among new files */
export function startPage(data: UiDocument, server: Server, chosen: (scenarios: string[]) => void): HTMLElement[] {
  const inMemory = (name: string): Listed => ({ name, inMemory: true });
  const onDisk = (name: string): Listed => ({ name, inMemory: false });
  const others = fileNames().filter((name) => !isScenario(name));
  return [
    title('Scenarios', 'Choose one to simulate it with other settings, or to sweep its keys. gradway answers on this machine.'),
    section('planner', 'Plan', 'Plan a training', h('p', { class: 'lead' }, 'Compare platforms for a model or a config.json: ', h('a', { href: addressOf({ ...listOfScenarios, plan: true }) }, 'layouts, days, dollars and failures'), '.')),
    section(
      'own',
      'Your own',
      'Open files of your own',
      h('p', { class: 'lead' }, 'Drop YAML files anywhere on this page, or choose them: a scenario, and the models and platforms that it names. They stay in the memory of this page and of the program; nothing is written to disk.'),
      chooser(chosen),
      others.length > 0 && h('ul', { class: 'chips', 'aria-label': 'Files that scenarios may name' }, ...others.map((name) => h('li', {}, `${name} `, button('×', `Forget ${name}`, () => {
        forget(name);
        chosen([]);
      })))),
    ),
    section(
      'scenarios',
      'List',
      'Scenarios',
      list(
        [
          { name: 'Chosen in this page', all: fileNames().filter(isScenario).map(inMemory) },
          { name: 'In the folder where gradway ui was started', all: data.own.map(onDisk) },
          { name: 'In the data folders', all: data.scenarios.map(onDisk) },
        ],
        server,
      ),
    ),
  ];
}
