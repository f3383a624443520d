// SPDX-License-Identifier: Apache-2.0
// Numbers as text, as on the terminal: at most four digits with a suitable unit.
import type { Maybe, Range } from './document';

export const nothing = '–';

type Scale = [name: string, factor: number];
const times: Scale[] = [['ns', 1e-9], ['µs', 1e-6], ['ms', 1e-3], ['s', 1], ['min', 60], ['h', 3600]];
const sizes: Scale[] = [['B', 1], ['kB', 1e3], ['MB', 1e6], ['GB', 1e9], ['TB', 1e12], ['PB', 1e15]];

export const known = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** At most the given number of digits, without trailing zeros. */
export const digits = (value: number, most = 4): string => String(Number(value.toPrecision(most)));

/** The largest scale in which the number, rounded to four digits, is at least one. */
function fitting(value: number, scales: Scale[]): Scale {
  let best = scales[0]!;
  for (const scale of scales) if (Math.abs(value) * (1 + 5e-5) >= scale[1]) best = scale;
  return best;
}

function scaled(value: Maybe, scales: Scale[], zero: string, per = ''): string {
  if (!known(value)) return nothing;
  if (value === 0) return zero;
  const [name, factor] = fitting(value, scales);
  return `${digits(value / factor)} ${name}${per}`;
}

export const timeText = (seconds: Maybe): string => scaled(seconds, times, '0 s');
export const bytesText = (bytes: Maybe): string => scaled(bytes, sizes, '0 B');
export const rateText = (rate: Maybe): string => scaled(rate, sizes, '0 B/s', '/s');
export const countText = (count: Maybe): string => (known(count) ? count.toLocaleString('en-GB') : nothing);
export const numberText = (value: Maybe): string => (!known(value) ? nothing : Math.abs(value) >= 1000 && Math.abs(value) < 1e15 ? countText(Math.round(value)) : digits(value));
export const usdText = (usd: Maybe): string => (known(usd) ? `${usd >= 1000 ? countText(Math.round(usd)) : digits(usd)} USD` : nothing);

/** A share with one decimal: 83.1 %. */
export const percentText = (fraction: Maybe): string => (known(fraction) ? `${(fraction * 100).toFixed(1)} %` : nothing);

/** A share in a sentence: 83 %, but 0.4 %. */
export function shareText(fraction: Maybe): string {
  if (!known(fraction)) return nothing;
  const percent = fraction * 100;
  return percent !== 0 && Math.abs(percent) < 9.95 ? `${Number(percent.toFixed(1))} %` : `${percent.toFixed(0)} %`;
}

/** With its sign and a true minus: +1.27 %, −0.55 %. */
export function signedPercentText(fraction: Maybe): string {
  if (!known(fraction)) return nothing;
  const text = (Math.abs(fraction) * 100).toFixed(2);
  return `${fraction < 0 ? '−' : '+'}${text} %`;
}

/** A long time: hours up to two days, then days. */
export function spanText(seconds: Maybe): string {
  if (!known(seconds) || seconds < 7200) return timeText(seconds);
  return seconds < 172800 ? `${digits(seconds / 3600)} h` : `${digits(seconds / 86400)} days`;
}

/** "592.5 to 847 ms": the unit once if both have the same; "592.5 ms" if both ends are equal. */
export function rangeText(range: Range | undefined, text: (value: number) => string = timeText): string {
  if (!range || !known(range[0]) || !known(range[1])) return nothing;
  const low = text(range[0]);
  const high = text(range[1]);
  if (low === high) return low;
  const cut = low.lastIndexOf(' ');
  return cut > 0 && low.slice(cut) === high.slice(high.lastIndexOf(' ')) ? `${low.slice(0, cut)} to ${high}` : `${low} to ${high}`;
}

/** A point in time on an axis, in one unit for all its labels; no more digits than the steps between labels need. */
export function axisTime(us: number, span_us: number): string {
  const [name, factor] = fitting(span_us * 1e-6, times.slice(0, 4));
  const step = (span_us * 1e-6) / factor / 10;
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step || 1))));
  return us === 0 ? '0' : `${((us * 1e-6) / factor).toFixed(decimals)} ${name}`;
}

/** Microseconds to the nanosecond, as in the document. */
export const exactUs = (us: Maybe): string =>
  known(us) ? `${us.toLocaleString('en-GB', { maximumFractionDigits: 3 }).replace(/,/g, '\u202f')} µs` : nothing;

export const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** With a capital first letter. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
