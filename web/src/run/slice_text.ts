// SPDX-License-Identifier: Apache-2.0
// The text of a slice of the timeline.
import type { Timeline } from '../document';
import { tip, type TipRow } from '../dom';
import { bytesText, exactUs, timeText } from '../format';
import { cell, type Table } from '../table';
import { endOf, rankName, seen, type Box, type Lane, type View } from './slices';

/** Times to the nanosecond, as in the trace. */
export function sliceRows(timeline: Timeline, index: number): TipRow[] {
  const [row, start, duration, , phase, bucket, bytes] = timeline.slices[index]!;
  const { stream } = timeline.rows[row]!;
  const rows: TipRow[] = [
    ['phase', timeline.phases[phase] ?? ''],
    ['start', exactUs(start), start],
    ['duration', duration >= 1000 ? `${exactUs(duration)} (${timeText(duration * 1e-6)})` : exactUs(duration), duration],
    ['stream', `${stream}, ${rankName(timeline.rows[row]!)}`],
  ];
  if (bucket >= 0) rows.push(['bucket', String(bucket), bucket]);
  if (bytes > 0) rows.push(['bytes', bytesText(bytes), bytes]);
  return rows;
}

export const sliceName = (timeline: Timeline, index: number): string => timeline.names[timeline.slices[index]![3]] ?? '';

export function sliceTip(timeline: Timeline, box: Box): string {
  if (box.count === 1) return tip(sliceName(timeline, box.slice), sliceRows(timeline, box.slice));
  return tip(
    `${box.count} slices, ${timeline.phases[box.phase] ?? ''}`,
    [
      ['first', sliceName(timeline, box.slice)],
      ['from', exactUs(box.from), box.from],
      ['to', exactUs(box.to), box.to],
    ],
    'zoom in to see each',
  );
}

const most = 500;

/** The visible slices, up to a limit for the page. */
export function sliceTable(timeline: Timeline, lanes: Lane[], view: View): Table {
  const shown: number[] = [];
  let all = 0;
  for (const lane of lanes) {
    for (const index of seen(timeline, lane, view)) {
      if (++all <= most) shown.push(index);
    }
  }
  return {
    caption: all > most ? `The first ${most} of ${all} visible slices; zoom in to see the others` : `The ${all} visible slices`,
    columns: [
      { name: 'rank', number: true },
      { name: 'stream' },
      { name: 'name' },
      { name: 'phase' },
      { name: 'start', number: true },
      { name: 'duration', number: true },
      { name: 'end', number: true },
      { name: 'bucket', number: true },
      { name: 'bytes', number: true },
    ],
    rows: shown.map((index) => {
      const slice = timeline.slices[index]!;
      const row = timeline.rows[slice[0]]!;
      return [
        cell(String(row.rank), row.rank),
        cell(row.stream),
        cell(timeline.names[slice[3]] ?? ''),
        cell(timeline.phases[slice[4]] ?? ''),
        cell(exactUs(slice[1]), slice[1]),
        cell(exactUs(slice[2]), slice[2]),
        cell(exactUs(endOf(slice)), endOf(slice)),
        cell(slice[5] < 0 ? '' : String(slice[5]), slice[5] < 0 ? null : slice[5]),
        cell(slice[6] > 0 ? bytesText(slice[6]) : '', slice[6] > 0 ? slice[6] : null),
      ];
    }),
  };
}
