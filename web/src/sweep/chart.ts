// SPDX-License-Identifier: Apache-2.0
// The chart of a sweep, and the choices of what it shows.
import { draw, section, type Stop } from '../chart';
import type { SweepDocument } from '../document';
import { choice, h } from '../dom';
import { known } from '../format';
import { levelText } from '../header';
import { onTheme, palette } from '../theme';
import { keyName } from './axis';
import { curves, curvesOption } from './curves';
import { cells, heatHeight, heatOption, heatSpan } from './heat';
import { best, settings, type Best, type State } from './state';
import { pointsTable } from './table';

function finding(state: State, { points, level }: Best): string {
  const run = state.runs[points[0] ?? -1];
  if (!run) return state.runs.some((one) => one.fits === false) ? 'No point fits' : 'No point could be simulated';
  const word = state.measure.better === 'low' ? 'Least' : 'Most';
  const value = `${state.measure.text(state.measure.value(run))} at ${settings(run)}`;
  if (!level) return `${word} ${state.measure.name}: ${value}`;
  return `${points.length} points are level in ${state.measure.name}, ${value} first: ${levelText(level)}`;
}

/** The curves' or cells' data that have a value. */
function stops(state: State): Stop[] {
  const has = (point: number): boolean => Boolean(state.runs[point] && known(state.measure.value(state.runs[point]!)));
  if (state.heat && state.by) return cells(state).flatMap(({ point }, dataIndex) => (has(point) ? [{ seriesIndex: 0, dataIndex }] : []));
  return curves(state).flatMap((line, seriesIndex) => line.points.flatMap((point, dataIndex) => (has(point) ? [{ seriesIndex, dataIndex }] : [])));
}

export function sweepChart(document: SweepDocument['sweep'], state: State): HTMLElement {
  const controls = h('div', { class: 'controls' });
  const key = h('div', {});
  const title = (): string => finding(state, best(state, document));
  const drawn = draw({
    label: title(),
    height: () => (state.heat && state.by ? heatHeight(state) : 400),
    stops: () => stops(state),
    table: { count: state.runs.length, make: () => pointsTable(document) },
    option: (colours, width) =>
      state.heat && state.by
        ? heatOption(state, best(state, document), colours, width)
        : curvesOption(state, best(state, document), colours, width),
  });

  const showKey = (): void => {
    if (!state.heat || !state.by) return key.replaceChildren();
    const [low, high] = heatSpan(state);
    const ramp = h('i', { style: `background:linear-gradient(90deg,${palette().scale.join(',')})` });
    key.replaceChildren(h('div', { class: 'legend' }, h('span', { class: 'ramp' }, state.measure.text(low), ramp, state.measure.text(high)), h('span', {}, best(state, document).level ? '≈ level' : '★ best point')));
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
