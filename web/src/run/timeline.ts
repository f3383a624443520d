// SPDX-License-Identifier: Apache-2.0
// The timeline of streams.
import type { EChartsType } from 'echarts/core';
import { draw, legend, section } from '../chart';
import type { Repeated, Timeline } from '../document';
import { choice, h, value } from '../dom';
import { countText, exactUs, sentence, timeText } from '../format';
import { onTheme, palette } from '../theme';
import { extent, lanesOf, seen, type View } from './slices';
import { sliceName, sliceRows, sliceTable } from './slice_text';
import { leftOf, phaseColour, right, slicesSeries, timelineHeight, timelineOption, type Picture } from './timeline_option';
import { listenToKeys, listenToWheel, moveButtons, type Mover } from './timeline_moves';

const most_lanes = 30;

/** The details that a click on a slice pins. */
function pinBoard(): { element: HTMLElement; show: (timeline: Timeline, slice: number) => void } {
  const element = h('div', { class: 'pinned', 'aria-live': 'polite', hidden: true });
  const show = (timeline: Timeline, slice: number): void => {
    element.hidden = slice < 0;
    if (slice < 0) return;
    const rows = sliceRows(timeline, slice).map(([label, text, exact]) =>
      h('div', {}, h('dt', {}, label), h('dd', {}, value(text, exact))),
    );
    element.replaceChildren(h('strong', {}, sliceName(timeline, slice)), h('dl', {}, ...rows));
  };
  return { element, show };
}

/** Seconds of the reported step, with the periods that are not drawn. */
function wholeStep({ step, repeated }: Timeline): number {
  const leftOut = repeated ? repeated.left_out * (repeated.to_us - repeated.from_us) : 0;
  return (step.to_us - step.from_us + leftOut) * 1e-6;
}

/** What the marked band stands for. */
export function repeatedText(repeated: Repeated | null | undefined): string {
  if (!repeated) return '';
  const each = timeText((repeated.to_us - repeated.from_us) * 1e-6);
  return `The marked period of ${each} happens ${countText(1 + repeated.left_out)} times in a row and is drawn once. `;
}

function empty(): HTMLElement {
  return section('timeline', 'Timeline', 'Nothing ran in the reported step', h('p', { class: 'lead' }, 'The document has no slices.'));
}

export function timeline(data: Timeline | undefined): HTMLElement {
  if (!data || data.slices.length === 0) return empty();
  const ranks = [...new Set(data.rows.map((row) => row.rank))];
  const all = lanesOf(data, ranks);
  const whole = extent(data);
  const home: View = { from: data.step.from_us, to: data.step.to_us };
  const picture: Picture = { timeline: data, lanes: all.length <= most_lanes ? all : lanesOf(data, ranks.slice(0, 1)), view: { ...home }, pinned: -1 };
  const board = pinBoard();
  let chart: EChartsType | undefined;
  let tipped = -1;

  const refresh = (): void => {
    if (!chart) return;
    chart.setOption({ series: [slicesSeries(picture, chart.getWidth(), palette())] as object[] });
    chart.getDom().dataset.from = String(picture.view.from);
    chart.getDom().dataset.to = String(picture.view.to);
  };
  const mover: Mover = {
    view: () => picture.view,
    whole,
    home,
    set: (view) => chart?.dispatchAction({ type: 'dataZoom', startValue: view.from, endValue: view.to }),
    step: (by) => {
      const lanes = picture.lanes.filter((one) => one.row.stream !== 'phases');
      const order = lanes.flatMap((one) => [...seen(data, one, picture.view)]).sort((a, b) => data.slices[a]![1] - data.slices[b]![1]);
      if (!chart || order.length === 0) return;
      const next = order.indexOf(tipped) + by;
      tipped = order[Math.min(order.length - 1, Math.max(0, next))]!;
      pin(tipped);
    },
  };
  const pin = (slice: number): void => {
    picture.pinned = slice;
    board.show(data, slice);
    refresh();
  };

  const name = `The reported step, ${timeText(wholeStep(data))} on each stream`;
  const drawn = draw({
    label: `Timeline of ${data.slices.length} slices on ${data.rows.length} streams, from ${exactUs(home.from)} to ${exactUs(home.to)}. Plus and minus zoom, arrows move, Home shows the step, N and P go from slice to slice.`,
    renderer: 'canvas',
    height: () => timelineHeight(picture.lanes),
    option: (colours, width) => timelineOption(picture, width, colours),
    table: { count: data.slices.length, make: () => sliceTable(data, picture.lanes, picture.view) },
    ready: (made, area) => {
      chart = made;
      refresh();
      made.on('datazoom', () => {
        const zoom = (made.getOption().dataZoom as { startValue: number; endValue: number }[])[0]!;
        picture.view = { from: zoom.startValue, to: zoom.endValue };
        refresh();
      });
      made.on('click', (event) => {
        const slice = (event.value as number[] | undefined)?.[3];
        if (typeof slice === 'number') pin(picture.pinned === slice ? -1 : slice);
      });
      listenToKeys(area, mover);
      listenToWheel(area, () => ({ left: leftOf(made.getWidth()), width: made.getWidth() - leftOf(made.getWidth()) - right }), mover);
    },
  });

  const ranksChoice =
    ranks.length > 1 &&
    choice(
      'Ranks',
      [['all', `all ${ranks.length}`], ...ranks.map((rank): [string, string] => [String(rank), `rank ${rank}`])],
      picture.lanes === all ? 'all' : String(ranks[0]),
      (id) => {
        picture.lanes = id === 'all' ? all : lanesOf(data, [Number(id)]);
        drawn.redraw();
      },
    );
  const key = h('div', {});
  const showKey = (): void => {
    const used = [...new Set(data.slices.map((slice) => slice[4]))].sort((a, b) => a - b);
    key.replaceChildren(legend(used.map((phase) => [phaseColour(data, phase, palette()), data.phases[phase] ?? ''])));
  };
  showKey();
  onTheme(showKey, key);

  return section(
    'timeline',
    'Time line',
    name,
    h('p', { class: 'lead' }, `${sentence(data.ranks)}. `, data.joined_us ? `Neighbours of one phase that are shorter than ${timeText(data.joined_us * 1e-6)} are joined with the gaps between them; trace.json.gz has each. ` : '', repeatedText(data.repeated), h('span', { class: 'hint' }, 'Wheel or pinch to zoom, drag to move, click a slice to keep its details. Keys: + − ← → Home, N and P for the next and previous slice.')),
    h('div', { class: 'controls' }, moveButtons(mover), ranksChoice),
    key,
    drawn.element,
    board.element,
  );
}
