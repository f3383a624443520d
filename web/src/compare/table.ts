// SPDX-License-Identifier: Apache-2.0
// All compared runs as a table.
import type { ComparedRun } from '../document';
import { known, rangeText } from '../format';
import { measure, measuresOf, rangeOf } from '../measures';
import { cell, type Table } from '../table';
import { marks } from './choice';

export function compareTable(runs: ComparedRun[]): Table {
  const shown = measuresOf(runs);
  const speed = shown.some((one) => one.id === 'tokens') ? 'tokens' : 'samples';
  const main = ['step', speed, 'mfu', 'million', 'run_usd'];
  return {
    caption: 'All compared runs',
    columns: [
      { name: 'platform' },
      { name: 'GPUs', number: true },
      ...shown.map((one) => ({ name: one.name, number: true, extra: !main.includes(one.id) })),
      { name: '90 % interval of the step', number: true },
      { name: 'provenance' },
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
        cell(run.provenance ?? ''),
        cell(run.bottleneck.resource),
      ];
    }),
  };
}
