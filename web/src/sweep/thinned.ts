// SPDX-License-Identifier: Apache-2.0
// Charts draw a selection of the values where there are too many to distinguish.
import { mostCurves, type Best, type State } from './state';

/** Evenly spaced indices of a list in ascending order: at most `most`, both ends included, and those of `keep`. */
export function places(length: number, most: number, keep: number[] = []): number[] {
  if (length <= most) return Array.from({ length }, (_, i) => i);
  const even = Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / (most - 1)));
  return [...new Set([...even, ...keep])].sort((a, b) => a - b);
}

/** Maximum number of values that a chart draws across and of rows that a heat map draws. */
export const mostAcross = 1000;
export const mostRows = 400;

/** The values of both axes that are drawn; a single best point is always there. */
export function drawnValues(state: State, best: Best): { across: string[]; by: string[] } {
  const keep = best.points.length === 1 ? state.runs[best.points[0]!]?.set : undefined;
  const some = ({ key, values }: State['x'], most: number): string[] => places(values.length, most, keep ? [values.indexOf(keep[key]!)] : []).map((i) => values[i]!);
  return { across: some(state.x, mostAcross), by: state.by ? some(state.by, state.heat ? mostRows : mostCurves) : [''] };
}

/** Says how many values are drawn; empty if all are. */
export function leftOut(state: State, best: Best): string {
  const { across, by } = drawnValues(state, best);
  const parts = [
    across.length < state.x.values.length && `${across.length} of ${state.x.values.length} values of ${state.x.key}`,
    state.by && by.length < state.by.values.length && `${by.length} of ${state.by.values.length} values of ${state.by.key}`,
  ].filter(Boolean);
  return parts.length > 0 ? `Drawn: ${parts.join(', ')}; the table has all.` : '';
}
