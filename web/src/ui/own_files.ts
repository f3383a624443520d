// SPDX-License-Identifier: Apache-2.0
// Files that the reader has chosen or dropped. They stay in the memory of the page, and go with its questions.
import { h } from '../dom';
import type { Files } from '../what_if/engine';

const texts = new Map<string, string>();

/** Top-level keys that only scenarios have; as the marks in sim/config/find/lookup.cpp. */
const marks = /^(model|platform|job|strategy|optimizer)\s*:/m;

export const ownFiles = (): Files => Object.fromEntries(texts);
export const hasFile = (name: string): boolean => texts.has(name);
export const fileNames = (): string[] => [...texts.keys()].sort();
export const isScenario = (name: string): boolean => marks.test(texts.get(name) ?? '');
export const forget = (name: string): void => void texts.delete(name);

/** @returns the names of the scenarios among them */
async function keep(files: Iterable<File>): Promise<string[]> {
  const names: string[] = [];
  for (const file of files) {
    texts.set(file.name, await file.text());
    names.push(file.name);
  }
  return names.filter(isScenario);
}

/** A field to choose files with. @param chosen called with the scenarios among them */
export function chooser(chosen: (scenarios: string[]) => void): HTMLElement {
  const field = h('input', { type: 'file', multiple: true, accept: '.yaml,.yml', 'aria-label': 'Files of your own' });
  field.addEventListener('change', () => void keep(field.files!).then(chosen));
  return field;
}

/** Takes files that are dropped anywhere on the page. A browser would open them instead of the page. */
export function takeDropped(chosen: (scenarios: string[]) => void): void {
  const show = (isOver: boolean) => (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    document.documentElement.classList.toggle('dropping', isOver);
  };
  addEventListener('dragover', show(true));
  addEventListener('dragleave', show(false));
  addEventListener('drop', (event) => {
    show(false)(event);
    const files = event.dataTransfer?.files;
    if (files && files.length > 0) void keep(files).then(chosen);
  });
}
