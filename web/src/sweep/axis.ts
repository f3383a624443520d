// SPDX-License-Identifier: Apache-2.0
// A swept key: its values as numbers if possible, else as text.

export interface SweptAxis {
  key: string;
  values: string[];
  /** One number per value, if all are distinct numbers of one kind. */
  numbers?: number[];
  /** The index of each value. */
  place: Map<string, number>;
}

const units: Record<string, number> = {
  '': 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3,
  ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, 'B/s': 1, 'kB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9, 'TB/s': 1e12,
};
const kindOf = (unit: string): string => (unit === '' ? 'count' : unit.endsWith('/s') ? 'rate' : unit.endsWith('s') ? 'time' : 'size');

export function axisOf(key: string, values: string[]): SweptAxis {
  const parsed = values.map((text) => {
    const match = /^(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([A-Za-z/]*)$/.exec(text.trim());
    const factor = match ? units[match[2]!] : undefined;
    return match && factor !== undefined ? { number: Number(match[1]) * factor, kind: kindOf(match[2]!) } : undefined;
  });
  const numbers = parsed.map((one) => one?.number);
  const ok = parsed.every((one) => one && one.kind === parsed[0]!.kind) && new Set(numbers).size === values.length && values.length > 1;
  const place = new Map(values.map((value, i) => [value, i]));
  return ok ? { key, values, place, numbers: numbers as number[] } : { key, values, place };
}

/** "job.gpus" becomes gpus; tables show the whole key. */
export const keyName = (key: string): string => key.slice(key.lastIndexOf('.') + 1).replace(/_/g, ' ');
