// SPDX-License-Identifier: Apache-2.0
// The selection of a sweep that is drawn: a measure over one or two of its axes, the other axes fixed.
import type { Tie, SweepPoint, Swept } from '../document';
import { bestOf, measuresOf, type Measure } from '../measures';
import { axisOf, type SweptAxis } from './axis';

/** Maximum number of curves in a chart; a second axis with more values is drawn as a heat map. */
export const mostCurves = 24;

export interface State {
  axes: SweptAxis[];
  runs: SweepPoint[];
  measures: Measure[];
  measure: Measure;
  x: SweptAxis;
  /** The second axis: one curve per value, or the rows of a heat map. */
  by: SweptAxis | undefined;
  heat: boolean;
  held: Record<string, string>;
}

export function initial({ vary, runs }: Swept): State | undefined {
  const axes = vary.map(({ key, values }) => axisOf(key, values));
  const known = measuresOf(runs);
  // If steps differ in samples, compare samples/s instead of step times.
  const sizes = new Set(runs.flatMap(({ scenario }) => (scenario ? [scenario.job.gpus * scenario.job.batch_per_gpu * scenario.job.accumulate] : [])));
  const first = known.find((one) => one.id === (sizes.size > 1 ? 'samples' : 'step')) ?? known[0];
  if (axes.length === 0 || !first) return undefined;
  const start = bestOf(runs, first);
  // Curves need numbers: the numeric axis with the most values is horizontal.
  const across = [...axes].sort((a, b) => Number(Boolean(b.numbers)) - Number(Boolean(a.numbers)) || b.values.length - a.values.length)[0]!;
  const by = [...axes].filter((axis) => axis !== across).sort((a, b) => b.values.length - a.values.length)[0];
  const held = Object.fromEntries(axes.map((axis) => [axis.key, runs[start]?.set[axis.key] ?? axis.values[0]!]));
  return { axes, runs, measures: known, measure: first, x: across, by, heat: Boolean(by && ((across.numbers && by.numbers && by.values.length > 3) || by.values.length > mostCurves)), held };
}

/** The point at these values, with the other axes fixed. Points are in the order of the axes; the last one varies fastest. */
export function pointAt(state: State, x: string, by?: string): number {
  return state.axes.reduce((index, axis) => {
    const value = axis === state.x ? x : axis === state.by ? by! : state.held[axis.key]!;
    return index * axis.values.length + axis.place.get(value)!;
  }, 0);
}

/** The best points; several if they are tied. */
export interface Best {
  points: number[];
  tied?: Tie;
}

const ranks: Record<string, 'fastest' | 'cheapest' | 'shortest_step'> = { samples: 'fastest', million: 'cheapest', step: 'shortest_step' };

/** The best points by the measure, from the document if it ranks by it. */
export function best(state: State, document: Swept): Best {
  const rank = ranks[state.measure.id];
  const winner = rank && document[rank];
  const tied = rank && document.tied?.[rank];
  if (tied) return { points: tied.runs, tied };
  if (typeof winner === 'number') return { points: [winner] };
  const index = bestOf(state.runs, state.measure);
  return { points: index < 0 ? [] : [index] };
}

export const settings = (run: SweepPoint): string =>
  Object.entries(run.set)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
