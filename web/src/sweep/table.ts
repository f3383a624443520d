// SPDX-License-Identifier: Apache-2.0
// All points of a sweep as a table.
import type { Swept } from '../document';
import { known, rangeText } from '../format';
import { measuresOf, rangeOf, measure } from '../measures';
import { cell, type Table } from '../table';

export function pointsTable({ vary, runs, fastest, cheapest, tied }: Swept): Table {
  const [inSpeed, inCost] = [new Set(tied?.fastest?.runs), new Set(tied?.cheapest?.runs)];
  const shown = measuresOf(runs);
  const speed = shown.some((one) => one.id === 'tokens') ? 'tokens' : 'samples';
  const main = ['step', speed, 'exposed', 'bus', 'memory', 'million'];
  const mark = (index: number): string | undefined =>
    [
      index === fastest ? 'fastest' : '',
      index === cheapest ? 'cheapest' : '',
      inSpeed.has(index) ? 'tied in speed' : '',
      inCost.has(index) ? 'tied in cost' : '',
    ].filter(Boolean).join(', ') || undefined;
  return {
    caption: 'All points',
    columns: [
      ...vary.map(({ key }) => ({ name: key })),
      ...shown.map((one) => ({ name: one.name, number: true, extra: !main.includes(one.id) })),
      { name: '90 % interval', number: true },
      { name: 'bottleneck' },
    ],
    rows: runs.map((run, index) => {
      const range = rangeOf(run, measure('step'));
      return [
        ...vary.map(({ key }, i) => cell(run.set[key] ?? '', undefined, i === 0 ? mark(index) : undefined)),
        ...shown.map((one) => {
          const value = one.value(run);
          return cell(one.text(value), known(value) ? value : null);
        }),
        cell(rangeText(range), range?.[0] ?? null),
        cell(run.error ? 'failed' : (run.does_not_fit ?? run.bottleneck?.resource ?? '')),
      ];
    }),
  };
}
