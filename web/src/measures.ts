// SPDX-License-Identifier: Apache-2.0
// Measures for comparing runs: their value, their text, and whether low or high is better.
import type { Maybe, Range, Report } from './document';
import { bytesText, known, numberText, percentText, rateText, spanText, timeText, usdText } from './format';
import { compared } from './metrics';

export type Measured = Partial<Report> & { costs?: { usd_per_step?: number | null; run_hours?: number | null; run_usd?: number | null } };

export interface Measure {
  id: string;
  name: string;
  better: 'low' | 'high';
  value: (run: Measured) => Maybe;
  text: (value: Maybe) => string;
  /** Key of its 90 % prediction interval in `interval`. */
  range?: string;
  /** For times: seconds per unit of its values. */
  seconds?: number;
}

/** A job that does not fit has no numbers to compare. */
const metric = (pick: (metrics: Report['metrics']) => Maybe) => (run: Measured) => (run.metrics && run.fits !== false ? pick(run.metrics) : null);

/** A figure of the report by the name and direction in its table. */
const figure = (id: string, key: keyof typeof compared, text: Measure['text'], more?: Partial<Measure>): Measure => ({ id, ...compared[key], value: metric((m) => m[key]), text, ...more });

export const measures: Measure[] = [
  figure('step', 'step_time_s', timeText, { range: 'step_time_s', seconds: 1 }),
  figure('samples', 'samples_per_s', numberText),
  figure('tokens', 'tokens_per_s_per_gpu', numberText),
  figure('mfu', 'mfu', percentText),
  { id: 'exposed', name: 'exposed communication', better: 'low', value: metric((m) => m.exposed_communication_s / m.step_time_s), text: percentText },
  figure('busy', 'gpu_busy_fraction', percentText),
  figure('memory', 'peak_memory_bytes', bytesText),
  figure('bus', 'bus_bandwidth_bytes_per_s', rateText),
  figure('million', 'cost_usd_per_million_samples', usdText, { range: 'usd_per_million_samples' }),
  { id: 'usd_step', name: 'cost per step', better: 'low', value: (run) => run.costs?.usd_per_step, text: usdText, range: 'usd_per_step' },
  { id: 'run_usd', name: 'cost of the whole training', better: 'low', value: (run) => run.costs?.run_usd, text: usdText, range: 'run_usd' },
  { id: 'run_hours', name: 'time of the whole training', better: 'low', value: (run) => run.costs?.run_hours, text: (hours) => spanText(known(hours) ? hours * 3600 : null), range: 'run_hours', seconds: 3600 },
  figure('hour', 'cost_usd_per_hour', (usd) => (known(usd) ? `${usdText(usd)}/h` : usdText(usd))),
];

export const measure = (id: string): Measure => measures.find((one) => one.id === id)!;

/** The measures that at least one run has. */
export const measuresOf = (runs: Measured[], ids?: string[]): Measure[] =>
  measures.filter((one) => (!ids || ids.includes(one.id)) && runs.some((run) => known(one.value(run))));

/** The interval of the measure, if the document has it. */
export function rangeOf(run: Measured, one: Measure): Range | undefined {
  const range = one.range && run.fits !== false ? run.interval?.[one.range] : undefined;
  return range && known(range[0]) && known(range[1]) ? range : undefined;
}

/** The index of the best run, -1 without any. */
export function bestOf(runs: Measured[], one: Measure): number {
  let best = -1;
  runs.forEach((run, index) => {
    const value = one.value(run);
    if (!known(value)) return;
    const champion = best < 0 ? undefined : one.value(runs[best]!);
    if (!known(champion) || (one.better === 'low' ? value < champion : value > champion)) best = index;
  });
  return best;
}
