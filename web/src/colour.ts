// SPDX-License-Identifier: Apache-2.0
// Arithmetic on colours written as #rrggbb.

type Channels = [number, number, number];

const channels = (colour: string): Channels =>
  [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as Channels;

/** Relative luminance, WCAG 2.2. */
function luminance(colour: string): number {
  const [r, g, b] = channels(colour).map((c) => {
    const part = c / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Channels;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever contrasts more with the colour. */
export function inkOn(colour: string): string {
  const light = luminance(colour);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? '#ffffff' : '#10151b';
}

/** The colour at a position from 0 to 1 on a scale. */
export function at(scale: string[], place: number): string {
  const here = Math.min(1, Math.max(0, place)) * (scale.length - 1);
  const low = Math.min(scale.length - 2, Math.floor(here));
  const [from, to] = [channels(scale[low]!), channels(scale[low + 1]!)];
  const mixed = from.map((c, i) => Math.round(c + (to[i]! - c) * (here - low)));
  return `#${mixed.map((c) => c.toString(16).padStart(2, '0')).join('')}`;
}
