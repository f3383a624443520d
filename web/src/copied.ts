// SPDX-License-Identifier: Apache-2.0
import { button, h } from './dom';

/** A text with a button that copies it. */
export function copied(label: string): { element: HTMLElement; show(text: string): void } {
  const text = h('pre', { class: 'code', tabindex: 0, role: 'region', 'aria-label': label });
  const copy = button('Copy', `Copy: ${label}`, async () => {
    try {
      await navigator.clipboard.writeText(text.textContent!);
      copy.textContent = 'Copied';
    } catch {
      getSelection()!.selectAllChildren(text); // to be copied by hand
    }
  });
  return {
    element: h('div', { class: 'copied' }, h('span', { class: 'hint' }, label), copy, text),
    show(next) {
      copy.textContent = 'Copy';
      text.textContent = next;
    },
  };
}
