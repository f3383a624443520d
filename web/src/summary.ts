// SPDX-License-Identifier: Apache-2.0
// Warnings with their codes; provenance and warnings of several runs, each text once.
import type { Measured } from './measures';

/** "a sentence [memory-tight]" for each warning. Reports of gradway 0.2 have no codes. */
export const coded = (of: { warnings?: string[]; warning_codes?: string[] }): string[] =>
  (of.warnings ?? []).map((text, i) => (of.warning_codes?.[i] ? `${text} [${of.warning_codes[i]}]` : text));

/** Each text once, with the number of runs that have it unless all do. */
export function gathered(runs: Measured[], key: 'warnings' | 'basis'): string[] {
  const reports = runs.filter((run) => run.metrics);
  const counts = new Map<string, number>();
  for (const run of reports) {
    for (const text of new Set(key === 'warnings' ? coded(run) : run[key] ?? [])) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => (count === reports.length ? text : `${text} (${count} of ${reports.length})`));
}
