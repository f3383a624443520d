// SPDX-License-Identifier: Apache-2.0
// The chart of a sweep and its controls.
import { draw, section, type Stop } from '../chart';
import type { Swept } from '../document';
import { choice, h } from '../dom';
import { known } from '../format';
import { tieText } from '../header';
import { onTheme, palette } from '../theme';
import { keyName } from './axis';
import { curves, curvesOption } from './curves';
import { cells, heatHeight, heatOption, heatSpan } from './heat';
import { best, settings, type Best, type State } from './state';
import { pointsTable } from './table';
import { leftOut } from './thinned';

function finding(state: State, { points, tied }: Best): string {
  const run = state.runs[points[0] ?? -1];
  if (!run) return state.runs.some((one) => one.fits === false) ? 'No point fits' : 'No point could be simulated';
  const word = state.measure.better === 'low' ? 'Least' : 'Most';
  const value = `${state.measure.text(state.measure.value(run))} at ${settings(run)}`;
  if (!tied) return `${word} ${state.measure.name}: ${value}`;
  return `${points.length} points are tied in ${state.measure.name}, ${value} first: ${tieText(tied)}`;
}

/** The data of curves or cells with a value. */
function stops(state: State, first: Best): Stop[] {
  const has = (point: number): boolean => Boolean(state.runs[point] && known(state.measure.value(state.runs[point]!)));
  if (state.heat && state.by) return cells(state, first).flatMap(({ point }, dataIndex) => (has(point) ? [{ seriesIndex: 0, dataIndex }] : []));
  return curves(state, first).flatMap((line, seriesIndex) => line.points.flatMap((point, dataIndex) => (has(point) ? [{ seriesIndex, dataIndex }] : [])));
}

/** With more elements, SVG is too slow. */
const mostElements = 5000;

export function sweepChart(document: Swept, state: State): HTMLElement {
  const controls = h('div', { class: 'controls' });
  const key = h('div', {});
  const title = (): string => finding(state, best(state, document));
  const drawn = draw({
    label: title(),
    height: () => (state.heat && state.by ? heatHeight(state, best(state, document)) : 400),
    stops: () => stops(state, best(state, document)),
    renderer: state.runs.length > mostElements ? 'canvas' : 'svg',
    table: { count: state.runs.length, make: () => pointsTable(document) },
    option: (colours, width) =>
      state.heat && state.by
        ? heatOption(state, best(state, document), colours, width)
        : curvesOption(state, best(state, document), colours, width),
  });

  const showKey = (): void => {
    const first = best(state, document);
    const note = leftOut(state, first);
    const notes = note ? [h('p', { class: 'note' }, note)] : [];
    if (!state.heat || !state.by) return key.replaceChildren(...notes);
    const [low, high] = heatSpan(state, first);
    const ramp = h('i', { style: `background:linear-gradient(90deg,${palette().scale.join(',')})` });
    key.replaceChildren(h('div', { class: 'legend' }, h('span', { class: 'ramp' }, state.measure.text(low), ramp, state.measure.text(high)), h('span', {}, first.tied ? '≈ tied' : '★ best point')), ...notes);
  };
  const part = section('curves', 'Points', title(), controls, key, drawn.element);
  const update = (change: Partial<State>): void => {
    Object.assign(state, change);
    part.querySelector('h2')!.textContent = title();
    drawn.setLabel(title());
    fill();
    showKey();
    drawn.redraw();
  };
  const axisNamed = (id: string) => state.axes.find((axis) => axis.key === id);
  const fill = (): void => {
    const others = state.axes.filter((axis) => axis !== state.x && axis !== state.by);
    controls.replaceChildren(
      choice('Show', state.measures.map((one) => [one.id, one.name]), state.measure.id, (id) => update({ measure: state.measures.find((one) => one.id === id)! })),
    );
    if (state.axes.length > 1) {
      controls.append(
        choice('Across', state.axes.map((axis) => [axis.key, axis.key]), state.x.key, (id) => {
          const next = axisNamed(id)!;
          update({ x: next, by: state.by === next ? state.x : state.by });
        }),
        choice('By', [['', 'nothing'], ...state.axes.filter((axis) => axis !== state.x).map((axis): [string, string] => [axis.key, axis.key])], state.by?.key ?? '', (id) => update({ by: axisNamed(id) })),
      );
    }
    if (state.by) controls.append(choice('As', [['curves', state.x.numbers ? 'curves' : 'bars'], ['heat', 'heat map']], state.heat ? 'heat' : 'curves', (id) => update({ heat: id === 'heat' })));
    for (const axis of others) {
      controls.append(choice(`At ${keyName(axis.key)}`, axis.values.map((one) => [one, one]), state.held[axis.key]!, (one) => update({ held: { ...state.held, [axis.key]: one } })));
    }
  };
  fill();
  showKey();
  onTheme(showKey);
  return part;
}
