// SPDX-License-Identifier: Apache-2.0
// Work that takes a while: how far it is, and a button that ends it.
import { button, h } from './dom';
import type { Progress } from './what_if/asker';

/** Shorter work shows nothing. */
const delay_ms = 400;

export interface Working {
  element: HTMLElement;
  start(): void;
  show(progress: Progress): void;
  end(): void;
}

/** @param cancel ends the work */
export function working(cancel: () => void): Working {
  const bar = h('progress', { max: 1, 'aria-label': 'Progress of the simulation' });
  const words = h('span', { class: 'hint' });
  const element = h('div', { class: 'working', hidden: true }, bar, words, button('Cancel', 'Cancel the simulation', cancel));
  let delay: ReturnType<typeof setTimeout> | undefined;
  return {
    element,
    start() {
      clearTimeout(delay);
      bar.removeAttribute('value');
      words.textContent = 'simulating …';
      delay = setTimeout(() => (element.hidden = false), delay_ms);
    },
    show({ share, text }) {
      if (share === null) bar.removeAttribute('value');
      else bar.value = share;
      words.textContent = text;
    },
    end() {
      clearTimeout(delay);
      element.hidden = true;
    },
  };
}
