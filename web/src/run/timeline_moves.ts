// SPDX-License-Identifier: Apache-2.0
// Navigation in the timeline: keys, wheel, buttons. The chart itself handles dragging, pinching and the slider.
import { button, h } from '../dom';
import type { View } from './slices';

const shortest_us = 0.02;

/** The view zoomed about a position (0 left, 1 right), inside the whole. */
function zoomed(view: View, factor: number, place: number, whole: View): View {
  const span = Math.min(whole.to - whole.from, Math.max(shortest_us, (view.to - view.from) * factor));
  const pivot = view.from + place * (view.to - view.from);
  return inside({ from: pivot - place * span, to: pivot + (1 - place) * span }, whole);
}

/** The view moved by a fraction of its width, inside the whole. */
function panned(view: View, part: number, whole: View): View {
  const by = part * (view.to - view.from);
  return inside({ from: view.from + by, to: view.to + by }, whole);
}

function inside(view: View, whole: View): View {
  const by = Math.max(0, whole.from - view.from) - Math.max(0, view.to - whole.to);
  return { from: Math.max(whole.from, view.from + by), to: Math.min(whole.to, view.to + by) };
}

export interface Mover {
  view: () => View;
  whole: View;
  home: View;
  set: (view: View) => void;
  /** Moves the tooltip to the next (1) or previous (-1) slice. */
  step: (by: number) => void;
}

export function listenToKeys(area: HTMLElement, mover: Mover): void {
  const moves: Record<string, () => void> = {
    '+': () => mover.set(zoomed(mover.view(), 0.6, 0.5, mover.whole)),
    '=': () => mover.set(zoomed(mover.view(), 0.6, 0.5, mover.whole)),
    '-': () => mover.set(zoomed(mover.view(), 1 / 0.6, 0.5, mover.whole)),
    ArrowLeft: () => mover.set(panned(mover.view(), -0.15, mover.whole)),
    ArrowRight: () => mover.set(panned(mover.view(), 0.15, mover.whole)),
    Home: () => mover.set(mover.home),
    End: () => mover.set(mover.whole),
    n: () => mover.step(1),
    p: () => mover.step(-1),
  };
  area.addEventListener('keydown', (event) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  });
}

/** Time in ms after scrolling the page during which the wheel keeps scrolling it. */
const latch = 250;

/** The wheel zooms at the pointer, unless the page is being scrolled. */
export function listenToWheel(area: HTMLElement, plot: () => { left: number; width: number }, mover: Mover): void {
  let scrolled = -Infinity;
  window.addEventListener('scroll', (event) => (scrolled = event.timeStamp), { passive: true });
  area.addEventListener(
    'wheel',
    (event) => {
      event.stopPropagation(); // otherwise the chart consumes it even if it does not zoom
      if (event.timeStamp - scrolled < latch && !event.ctrlKey) return;
      const { left, width } = plot();
      const place = (event.clientX - area.getBoundingClientRect().left - left) / width;
      if (place < 0 || place > 1) return;
      const view = mover.view();
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      const next = sideways
        ? panned(view, sideways / width, mover.whole)
        : zoomed(view, Math.exp(Math.max(-100, Math.min(100, event.deltaY)) * 0.0032), place, mover.whole);
      if (next.from === view.from && next.to === view.to) return;
      event.preventDefault();
      mover.set(next);
    },
    { passive: false, capture: true },
  );
}

export const moveButtons = (mover: Mover): HTMLElement =>
  h(
    'div',
    { class: 'buttons', role: 'group', 'aria-label': 'Move the timeline' },
    button('+', 'Zoom in (+)', () => mover.set(zoomed(mover.view(), 0.5, 0.5, mover.whole))),
    button('−', 'Zoom out (-)', () => mover.set(zoomed(mover.view(), 2, 0.5, mover.whole))),
    button('←', 'Earlier (left arrow)', () => mover.set(panned(mover.view(), -0.3, mover.whole))),
    button('→', 'Later (right arrow)', () => mover.set(panned(mover.view(), 0.3, mover.whole))),
    button('Step', 'The reported step (Home)', () => mover.set(mover.home)),
    button('All', 'The whole run (End)', () => mover.set(mover.whole)),
  );
