// SPDX-License-Identifier: Apache-2.0
// Axes of values: linear from zero, or logarithmic if values differ by orders of magnitude.
import type { Range } from './document';
import type { Palette } from './theme';

export const logarithmic = ([low, high]: Range): boolean => low > 0 && high / low > 20;

/** Rounded ends of a logarithmic axis: 1, 2 or 5 times a power of ten. */
function roundTo(value: number, up: boolean): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = up ? [1, 2, 5, 10] : [5, 2, 1];
  const found = steps.find((step) => (up ? step * power >= value * (1 - 1e-9) : step * power <= value * (1 + 1e-9)));
  return (found ?? 1) * power;
}

/** Ticks at 1, 2 and 5 times powers of ten between the ends; fewer if there are too many. */
function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  const decades = Math.log10(high / low);
  const steps = decades > 4 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const step of steps) {
      const tick = Number(`${step}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** Rounded end above the value: a number of round steps from zero. */
export function roundEnd(value: number, steps = 5): { max: number; interval: number } {
  if (!(value > 0)) return { max: 1, interval: 1 };
  const power = 10 ** Math.floor(Math.log10(value / steps));
  const interval = [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step * steps >= value * (1 - 1e-9))!;
  return { max: Math.ceil(value / interval - 1e-9) * interval, interval };
}

interface Unit {
  name: string;
  seconds: number;
  /** Steps between labels in this unit. Smaller and larger steps are 1, 2 and 5 times powers of ten. */
  steps: number[];
}

const sixties = [1, 2, 5, 10, 15, 20, 30];
const timeUnits: Unit[] = [
  { name: 'ns', seconds: 1e-9, steps: [] },
  { name: 'µs', seconds: 1e-6, steps: [] },
  { name: 'ms', seconds: 1e-3, steps: [] },
  { name: 's', seconds: 1, steps: sixties },
  { name: 'min', seconds: 60, steps: sixties },
  { name: 'h', seconds: 3600, steps: [1, 2, 3, 6, 12, 24] },
  { name: 'days', seconds: 86400, steps: [] },
];

const decimalStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least * (1 - 1e-9))!;
};

/** The unit for times up to this one: the largest of which there are at least two. */
const unitFor = (seconds: number): Unit => [...timeUnits].reverse().find((unit) => unit.name === 's' ? seconds >= 1 : seconds >= 2 * unit.seconds) ?? timeUnits[0]!;

const unitText = (seconds: number, unit: Unit): string => {
  const count = Number((seconds / unit.seconds).toPrecision(6));
  return `${count} ${unit.name === 'days' && count === 1 ? 'day' : unit.name}`;
};

/** Round steps in seconds, minutes, hours or days from zero to a rounded end above the time, in one unit for all labels.
 * @param latest the latest time on the axis, if it does not begin at zero; it determines the unit */
export function timeTicks(seconds: number, labels = 5, latest = seconds): { max: number; interval: number; text: (seconds: number) => string } {
  const unit = unitFor(latest);
  const least = seconds / unit.seconds / labels;
  const interval = ((least > 1 && unit.steps.find((step) => step >= least * (1 - 1e-9))) || decimalStep(least)) * unit.seconds;
  return { max: Math.ceil(seconds / interval - 1e-9) * interval, interval, text: (at) => (at === 0 ? '0' : unitText(at, unit)) };
}

/** Round times of a logarithmic axis, from a nanosecond to thousands of days. */
const roundTimes: number[] = [
  ...[-9, -6, -3].flatMap((power) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => Number(`${step}e${power}`))),
  ...[1, 60].flatMap((unit) => sixties.filter((step) => step !== 15).map((step) => step * unit)),
  ...[1, 2, 3, 6, 12].map((step) => step * 3600),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].map((step) => step * 86400),
];

/** A time as a label: 90 s are 1.5 min, 3600 s are 1 h. */
const roundTimeText = (seconds: number): string => unitText(seconds, [...timeUnits].reverse().find((unit) => seconds >= unit.seconds * (1 - 1e-9)) ?? timeUnits[0]!);

/** Every second or third tick if there are too many. */
const fewer = (ticks: number[], most: number): number[] => ticks.filter((_, i) => i % Math.ceil(ticks.length / most) === 0);

function logTimes([low, high]: Range): { min: number; max: number; ticks: number[]; text: (seconds: number) => string } {
  const min = [...roundTimes].reverse().find((time) => time <= low * (1 + 1e-9)) ?? low;
  const max = roundTimes.find((time) => time >= high * (1 - 1e-9)) ?? high;
  return { min, max, ticks: fewer(roundTimes.filter((time) => time >= min && time <= max), 7), text: roundTimeText };
}

/** A horizontal axis of times from zero whose labels never overlap. @param endsThere ends at the time itself instead of the next tick */
export function timeAxis(seconds: number, width: number, colours: Palette, endsThere = false): object {
  const { max, interval, text } = timeTicks(seconds, width < 560 ? 3 : 6);
  return {
    type: 'value',
    min: 0,
    max: endsThere ? seconds : max,
    interval,
    axisLine: { show: true, onZero: false, lineStyle: { color: colours.line } },
    axisLabel: { color: colours.muted, hideOverlap: true, showMaxLabel: !endsThere, formatter: text },
    splitLine: { lineStyle: { color: colours.grid } },
  };
}

export interface ValueAxis {
  span: Range;
  /** Seconds per unit of the values, if they are times. */
  seconds?: number | undefined;
  text: (value: number) => string;
  name: string;
  colours: Palette;
  /** Position of the name; above a vertical axis. */
  vertical?: boolean;
  nameGap?: number;
}

/** The ends of the axis, its ticks and their labels. */
function scaleOf({ span, text, seconds }: ValueAxis): { ends: object; ticks: number[] | undefined; label: (value: number) => string } {
  const isLog = logarithmic(span);
  if (seconds !== undefined) {
    const label = (of: (seconds: number) => string) => (value: number): string => of(value * seconds);
    if (isLog) {
      const { min, max, ticks, text: of } = logTimes([span[0] * seconds, span[1] * seconds]);
      return { ends: { type: 'log', min: min / seconds, max: max / seconds }, ticks: ticks.map((tick) => tick / seconds), label: label(of) };
    }
    const { max, interval, text: of } = timeTicks(span[1] * seconds);
    return { ends: { type: 'value', min: 0, max: max / seconds, interval: interval / seconds }, ticks: undefined, label: label(of) };
  }
  if (!isLog) return { ends: { type: 'value', min: 0, ...roundEnd(span[1]) }, ticks: undefined, label: text };
  const [low, high] = [roundTo(span[0], false), roundTo(span[1], true)];
  return { ends: { type: 'log', min: low, max: high }, ticks: logTicks(low, high), label: text };
}

export function valueAxis(axis: ValueAxis): object {
  const { name, colours, vertical, nameGap = vertical ? 12 : 30 } = axis;
  const { ends, ticks, label } = scaleOf(axis);
  return {
    ...ends,
    name,
    nameLocation: vertical ? 'end' : 'middle',
    nameGap,
    nameTextStyle: { color: colours.muted, fontSize: 12.5, align: vertical ? 'left' : 'center', ...(vertical && { padding: [0, 0, 0, -46] }) },
    axisLine: { show: true, lineStyle: { color: colours.line } },
    axisTick: { show: false, ...(ticks && { customValues: ticks }) },
    axisLabel: { color: colours.muted, hideOverlap: true, formatter: label, ...(ticks && { customValues: ticks }) },
    splitLine: { lineStyle: { color: colours.grid } },
  };
}
