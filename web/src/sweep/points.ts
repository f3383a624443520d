// SPDX-License-Identifier: Apache-2.0
// The points of a sweep, assembled from the columns of the document.
import type { GivenSweep, SweepPoint, Swept } from '../document';

/** The values of a point, one per axis; the last axis varies fastest. */
function settingsAt(vary: GivenSweep['vary'], index: number): Record<string, string> {
  const set: [string, string][] = [];
  let rest = index;
  for (const { key, values } of [...vary].reverse()) {
    set.push([key, values[rest % values.length]!]);
    rest = Math.floor(rest / values.length);
  }
  return Object.fromEntries(set.reverse());
}

/** Sets a value at a path: "/metrics/step_time_s". */
function put(point: object, path: string[], value: unknown): void {
  let at = point as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
  at[path[path.length - 1]!] = value;
}

export function withRuns({ columns, ...sweep }: GivenSweep): Swept {
  const count = sweep.vary.reduce((product, { values }) => product * values.length, 1);
  const runs = Array.from({ length: count }, (_, index): SweepPoint => ({ set: settingsAt(sweep.vary, index) }));
  for (const { path, values, distinct } of columns) {
    const keys = path.split('/').slice(1);
    values.forEach((value, index) => value !== null && put(runs[index]!, keys, distinct ? distinct[value as number] : value));
  }
  return { ...sweep, runs };
}
