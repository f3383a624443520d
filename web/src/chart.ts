// SPDX-License-Identifier: Apache-2.0
// Shared by all charts: size, colours, tooltips, keyboard, the table of each chart.
import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  TooltipComponent,
} from 'echarts/components';
import { init, use, type EChartsType } from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import type { EChartsOption } from 'echarts';
import { h, type Child } from './dom';
import { tableDetails, type Table } from './table';
import { forgetRemoved, isPrinting, onTheme, palette, type Palette } from './theme';

use([
  BarChart,
  CustomChart,
  LineChart,
  ScatterChart,
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  CanvasRenderer,
  SVGRenderer,
]);

export type Option = EChartsOption;

/** A datum that the arrow keys select. */
export interface Stop {
  seriesIndex: number;
  dataIndex: number;
}

export interface Chart {
  /** The text alternative: a sentence on what the chart shows. */
  label: string;
  height: (width: number) => number;
  option: (colours: Palette, width: number) => Option;
  renderer?: 'svg' | 'canvas';
  stops?: () => Stop[];
  table?: { make: () => Table; count: number };
  /** Called once, after the chart has been created. */
  ready?: (chart: EChartsType, area: HTMLElement) => void;
}

export interface Drawn {
  element: HTMLElement;
  redraw: () => void;
  setLabel: (label: string) => void;
}

/** Width of A4 without margins. */
const paperWidth = 680;

const live = h('div', { class: 'hidden', 'aria-live': 'polite' });
const mounts: ((() => void) & { area: HTMLElement })[] = [];
const drawnCharts = new Map<HTMLElement, EChartsType>();

/** Draws all charts created so far, whose elements must be in the page, and forgets those that were removed from it. */
export function mountCharts(): void {
  prepare();
  for (const mount of mounts.splice(0)) mount();
}

/** The same, once the browser has shown the text. */
export const mountChartsAfterText = (): void => void requestAnimationFrame(() => setTimeout(mountCharts));

/** The same, in a task for each chart, so that the page reacts meanwhile: first those in sight, the others after `later`. */
export async function mountChartsInTurn(later: Promise<unknown>): Promise<void> {
  prepare();
  const all = mounts.splice(0);
  const isInSight = all.map(({ area }) => area.getBoundingClientRect().top < window.innerHeight);
  for (const now of [true, false]) {
    if (!now) await later;
    for (const mount of all.filter((_, i) => isInSight[i] === now)) {
      await new Promise((next) => setTimeout(next));
      mount();
    }
  }
}

function prepare(): void {
  if (!live.isConnected) document.body.append(live);
  for (const [area, chart] of drawnCharts) {
    if (area.isConnected) continue;
    chart.dispose();
    drawnCharts.delete(area);
  }
  forgetRemoved();
}

function base(colours: Palette): Option {
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif', color: colours.text },
    tooltip: {
      trigger: 'item',
      confine: true,
      transitionDuration: 0,
      backgroundColor: colours.tip,
      borderColor: colours.line,
      borderWidth: 1,
      padding: 0,
      textStyle: { color: colours.text, fontSize: 12.5 },
      extraCssText: 'box-shadow:0 2px 10px rgba(0,0,0,.18);border-radius:6px;max-width:min(340px,86vw);white-space:normal;',
    },
  };
}

/** The left and right arrow keys select data, Escape deselects. */
function keyboard(chart: EChartsType, area: HTMLElement, stops: () => Stop[]): void {
  let at = -1;
  const leave = (): void => {
    const all = stops();
    if (at >= 0 && all[at]) chart.dispatchAction({ type: 'downplay', ...all[at] });
    chart.dispatchAction({ type: 'hideTip' });
    at = -1;
  };
  area.addEventListener('keydown', (event) => {
    const all = stops();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') return leave();
    if (!step || all.length === 0) return;
    event.preventDefault();
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
    if (at >= 0) chart.dispatchAction({ type: 'downplay', ...all[at] });
    at = next;
    chart.dispatchAction({ type: 'highlight', ...all[at] });
    chart.dispatchAction({ type: 'showTip', ...all[at] });
    live.textContent = area.querySelector('.tip')?.textContent ?? '';
  });
  area.addEventListener('blur', leave);
}

export function draw(spec: Chart): Drawn {
  const area = h('div', { class: 'chart', tabindex: 0, role: 'group', 'aria-roledescription': 'chart', 'aria-label': spec.label });
  const element = h('figure', {}, area, spec.table && tableDetails(spec.table.make, spec.table.count));
  let chart: EChartsType | undefined;
  const redraw = (): void => {
    if (!chart) return;
    const width = isPrinting() ? paperWidth : area.clientWidth;
    const height = spec.height(width);
    area.style.height = `${height}px`;
    const colours = palette();
    chart.resize({ width, height });
    chart.setOption({ ...base(colours), ...merged(base(colours), spec.option(colours, width)) }, { notMerge: true });
  };
  const mount = (): void => {
    if (!area.isConnected) return;
    area.style.height = `${spec.height(area.clientWidth)}px`;
    chart = init(area, null, { renderer: spec.renderer ?? 'svg', devicePixelRatio: Math.max(2, window.devicePixelRatio) });
    drawnCharts.set(area, chart);
    redraw();
    if (spec.stops) keyboard(chart, area, spec.stops);
    spec.ready?.(chart, area);
    let width = area.clientWidth;
    new ResizeObserver(() => {
      if (isPrinting() || area.clientWidth === width) return;
      width = area.clientWidth;
      redraw();
    }).observe(area);
  };
  mounts.push(Object.assign(mount, { area }));
  onTheme(redraw, area);
  return { element, redraw, setLabel: (label) => area.setAttribute('aria-label', label) };
}

/** Merges the tooltip's settings of both; everything else is the chart's own. */
function merged(common: Option, own: Option): Option {
  return own.tooltip ? { ...own, tooltip: { ...(common.tooltip as object), ...(own.tooltip as object) } } : own;
}

/** A section of the page: its subject, its finding as a heading, and its contents. */
export function section(id: string, about: string, finding: string, ...contents: Child[]): HTMLElement {
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('p', { class: 'about' }, about),
    h('h2', { id: `${id}-title` }, finding),
    ...contents,
  );
}

/** A legend whose colours follow the theme. */
export function themedLegend(items: () => [colour: string, text: string, kind?: string][]): HTMLElement {
  const key = h('div', {});
  const show = (): void => key.replaceChildren(legend(items()));
  show();
  onTheme(show, key);
  return key;
}

/** A legend of a chart. */
export function legend(items: [colour: string, text: string, kind?: string][]): HTMLElement {
  return h(
    'ul',
    { class: 'legend' },
    ...items.map(([colour, text, kind]) => h('li', {}, h('i', { class: kind ?? 'box', style: `--c:${colour}` }), text)),
  );
}
