// SPDX-License-Identifier: Apache-2.0
// All compared runs as a table.
import type { ComparedRun } from '../document';
import { known, rangeText } from '../format';
import { measure, measuresOf, rangeOf } from '../measures';
import { cell, type Table } from '../table';
import { marks } from './choice';

export function compareTable(runs: ComparedRun[]): Table {
  const shown = measuresOf(runs);
  return {
    caption: 'All that is compared',
    columns: [
      { name: 'platform' },
      { name: 'GPUs', number: true },
      ...shown.map((one) => ({ name: one.name, number: true })),
      { name: 'step in nine of ten cases', number: true },
      { name: 'rests on' },
      { name: 'bottleneck' },
    ],
    rows: runs.map((run) => {
      const range = rangeOf(run, measure('step'));
      const { gpus } = run.scenario.job;
      return [
        cell(run.scenario.platform, undefined, marks(run)),
        cell(String(gpus), gpus),
        ...shown.map((one) => {
          const value = one.value(run);
          return cell(one.text(value), known(value) ? value : null);
        }),
        cell(rangeText(range), range?.[0] ?? null),
        cell(run.rests_on ?? ''),
        cell(run.bottleneck.resource),
      ];
    }),
  };
}
