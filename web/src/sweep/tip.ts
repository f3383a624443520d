// SPDX-License-Identifier: Apache-2.0
// The tooltip of a point of a sweep.
import { tip, type TipRow } from '../dom';
import { known, rangeText, timeText } from '../format';
import { rangeOf } from '../measures';
import type { Best, State } from './state';

export function pointTip(state: State, index: number, { points, tied }: Best): string {
  const run = state.runs[index];
  if (!run) return tip('no such point', []);
  const set = Object.entries(run.set).map(([key, value]): TipRow => [key, value]);
  if (!run.metrics) return tip('failed', set, run.error ?? '');
  if (run.does_not_fit) return tip('does not fit', set, run.does_not_fit);
  const { measure } = state;
  const value = measure.value(run);
  const range = rangeOf(run, measure);
  return tip(
    !points.includes(index) ? 'point' : tied ? 'tied with the best' : 'best point',
    [
      ...set,
      [measure.name, measure.text(value), known(value) ? value : undefined],
      range ? ['90 % interval', rangeText(range, measure.text)] : null,
      measure.id === 'step' ? null : ['step time', timeText(run.metrics.step_time_s), run.metrics.step_time_s],
    ],
    run.bottleneck ? `bottleneck: ${run.bottleneck.resource}` : '',
  );
}
