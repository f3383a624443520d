// SPDX-License-Identifier: Apache-2.0
// Axes of values: from zero and linear, or logarithmic where small and large stand together.
import type { Range } from './document';
import type { Palette } from './theme';

export const logarithmic = ([low, high]: Range): boolean => low > 0 && high / low > 20;

/** Round ends for a logarithmic axis: 1, 2 or 5 times a power of ten. */
function roundTo(value: number, up: boolean): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = up ? [1, 2, 5, 10] : [5, 2, 1];
  const found = steps.find((step) => (up ? step * power >= value * (1 - 1e-9) : step * power <= value * (1 + 1e-9)));
  return (found ?? 1) * power;
}

/** 1, 2 and 5 times the powers of ten between the ends, fewer where there are many. */
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

/** A round end beyond the value, so many round steps from zero. */
export function roundEnd(value: number, steps = 5): { max: number; interval: number } {
  if (!(value > 0)) return { max: 1, interval: 1 };
  const power = 10 ** Math.floor(Math.log10(value / steps));
  const interval = [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step * steps >= value * (1 - 1e-9))!;
  return { max: Math.ceil(value / interval - 1e-9) * interval, interval };
}

export interface ValueAxis {
  span: Range;
  text: (value: number) => string;
  name: string;
  colours: Palette;
  /** Where the name stands; a vertical axis has it above. */
  vertical?: boolean;
}

export function valueAxis({ span, text, name, colours, vertical }: ValueAxis): object {
  const isLog = logarithmic(span);
  const low = isLog ? roundTo(span[0], false) : undefined;
  const high = isLog ? roundTo(span[1], true) : undefined;
  const ticks = isLog ? logTicks(low!, high!) : undefined;
  return {
    type: isLog ? 'log' : 'value',
    ...(isLog ? { min: low, max: high } : { min: 0, ...roundEnd(span[1]) }),
    name,
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 12 : 30,
    nameTextStyle: { color: colours.muted, fontSize: 12.5, align: vertical ? 'left' : 'center', ...(vertical && { padding: [0, 0, 0, -46] }) },
    axisLine: { show: true, lineStyle: { color: colours.line } },
    axisTick: { show: false, ...(ticks && { customValues: ticks }) },
    axisLabel: { color: colours.muted, hideOverlap: true, formatter: text, ...(ticks && { customValues: ticks }) },
    splitLine: { lineStyle: { color: colours.grid } },
  };
}
