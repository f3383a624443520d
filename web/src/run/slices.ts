// SPDX-License-Identifier: Apache-2.0
// The slices of a timeline in lanes, and the boxes that are drawn for them.
import type { Row, Slice, Timeline } from '../document';

/** A line of the timeline: slices of a stream that do not overlap, or a heading (without slices). */
export interface Lane {
  label: string;
  row: Row;
  /** Indices into the document's slices, by start. */
  slices: number[];
  heading: boolean;
}

/** A drawn box: one slice, or several of one phase that are too short to distinguish. */
export interface Box {
  lane: number;
  from: number;
  to: number;
  phase: number;
  /** Its first slice. */
  slice: number;
  count: number;
}

export interface View {
  from: number;
  to: number;
}

export const endOf = (slice: Slice): number => slice[1] + slice[2];

/** Slices of a row, distributed over lanes if they overlap (rows of the document should not). */
function spread(timeline: Timeline, indices: number[]): number[][] {
  const lanes: number[][] = [];
  const ends: number[] = [];
  for (const index of indices) {
    const slice = timeline.slices[index]!;
    let lane = ends.findIndex((end) => end <= slice[1] + 1e-3);
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane]!.push(index);
    ends[lane] = endOf(slice);
  }
  return lanes.length > 0 ? lanes : [[]];
}

export const rankName = (row: Row): string => (row.device ? `rank ${row.rank} · ${row.device}` : `rank ${row.rank}`);

/** The lanes of the ranks, each with a heading if there are several. */
export function lanesOf(timeline: Timeline, ranks: number[]): Lane[] {
  const byRow: number[][] = timeline.rows.map(() => []);
  timeline.slices.forEach((slice, index) => byRow[slice[0]]?.push(index));
  const lanes: Lane[] = [];
  for (const rank of ranks) {
    const rows = timeline.rows.flatMap((row, index) => (row.rank === rank ? [{ row, index }] : []));
    if (ranks.length > 1 && rows[0]) lanes.push({ label: rankName(rows[0].row), row: rows[0].row, slices: [], heading: true });
    let before = '';
    for (const { row, index } of rows) {
      for (const slices of spread(timeline, byRow[index]!)) {
        lanes.push({ label: row.stream === before ? '' : row.stream, row, slices, heading: false });
        before = row.stream;
      }
    }
  }
  return lanes;
}

/** The first slice of a lane that ends after the time. */
function firstAfter(timeline: Timeline, slices: number[], time: number): number {
  let low = 0;
  let high = slices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(timeline.slices[slices[middle]!]!) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The indices of the visible slices of a lane, in order. */
export function* seen(timeline: Timeline, lane: Lane, view: View): Generator<number> {
  for (let i = firstAfter(timeline, lane.slices, view.from); i < lane.slices.length; ++i) {
    const index = lane.slices[i]!;
    if (timeline.slices[index]![1] >= view.to) return;
    yield index;
  }
}

/** Boxes for a picture of the given width: slices narrower than a pixel join a neighbour of the same phase. */
export function boxesOf(timeline: Timeline, lanes: Lane[], view: View, pixels: number): Box[] {
  const pixel = (view.to - view.from) / Math.max(1, pixels);
  const boxes: Box[] = [];
  lanes.forEach((lane, at) => {
    let last: Box | undefined;
    for (const index of seen(timeline, lane, view)) {
      const slice = timeline.slices[index]!;
      const to = endOf(slice);
      const small = slice[2] < 1.5 * pixel;
      if (last && small && last.phase === slice[4] && slice[1] - last.to < pixel && last.to - last.from < 3 * pixel) {
        last.to = Math.max(last.to, to);
        last.count += 1;
        continue;
      }
      last = { lane: at, from: slice[1], to, phase: slice[4], slice: index, count: 1 };
      boxes.push(last);
    }
  });
  return boxes;
}

/** From the first start to the last end. */
export function extent(timeline: Timeline): View {
  let { from_us: from, to_us: to } = timeline.step;
  for (const slice of timeline.slices) {
    from = Math.min(from, slice[1]);
    to = Math.max(to, endOf(slice));
  }
  return { from, to };
}
