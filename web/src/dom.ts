// SPDX-License-Identifier: Apache-2.0
// Elements without a framework. Texts of the document only ever become text nodes or go through escape().

export type Child = Node | string | null | undefined | false;

/** An element with attributes and children: h('p', { class: 'note' }, 'text'). */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => entities[c]!);

/** A text with the exact number of the document, for screen readers and tests. */
export function value(text: string, exact: unknown): HTMLElement {
  const shown = h('span', { class: 'value' }, text);
  if (typeof exact === 'number') {
    shown.dataset.value = String(exact);
    shown.title = String(exact);
  }
  return shown;
}

/** A row of a tooltip. */
export type TipRow = [label: string, text: string, exact?: unknown];

/** The inside of a tooltip. */
export function tip(title: string, rows: (TipRow | null | false)[], note = ''): string {
  const lines = rows
    .filter((row): row is TipRow => Boolean(row))
    .map(([label, text, exact]) => {
      const data = typeof exact === 'number' ? ` data-value="${exact}"` : '';
      return `<tr><th>${escape(label)}</th><td data-label="${escape(label)}"${data}>${escape(text)}</td></tr>`;
    });
  const end = note ? `<p>${escape(note)}</p>` : '';
  return `<div class="tip"><strong>${escape(title)}</strong><table>${lines.join('')}</table>${end}</div>`;
}

/** A labelled choice. */
export function choice(
  label: string,
  options: [id: string, text: string][],
  chosen: string,
  change: (id: string) => void,
): HTMLLabelElement {
  const select = h('select', { 'aria-label': label }, ...options.map(([id, text]) => h('option', { value: id, selected: id === chosen }, text)));
  select.addEventListener('change', () => change(select.value));
  return h('label', { class: 'choice' }, h('span', {}, label), select);
}

export function button(text: string, label: string, click: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', 'aria-label': label, title: label }, text);
  element.addEventListener('click', click);
  return element;
}
