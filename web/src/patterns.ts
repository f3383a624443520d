// SPDX-License-Identifier: Apache-2.0
// Patterns over the colours of parts, so that they can be distinguished without colour.
import type { Palette } from './theme';

interface Decal {
  symbol: string;
  dashArrayX: number[] | number[][];
  dashArrayY: number[] | number;
  rotation: number;
  color: string;
  symbolSize?: number;
}

/** Compute is plain; every other part has its own pattern. */
export function stripes(part: string, colours: Palette): Decal | undefined {
  const color = colours.name === 'dark' ? 'rgba(0,0,0,0.30)' : 'rgba(255,255,255,0.42)';
  const line = (rotation: number, on = 2, off = 5): Decal => ({ symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [on, off], rotation, color });
  switch (part) {
    case 'exposed':
      return line(-Math.PI / 4);
    case 'hidden':
      return line(Math.PI / 4, 3, 3);
    case 'input':
      return { symbol: 'circle', dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], rotation: 0, color, symbolSize: 0.7 };
    case 'optimizer':
      return line(Math.PI / 2);
    case 'launch':
      return line(0, 1, 3);
    case 'idle':
      return { symbol: 'circle', dashArrayX: [[3, 6], [0, 4, 3, 2]], dashArrayY: [3, 2], rotation: 0, color, symbolSize: 0.6 };
    default:
      return undefined;
  }
}
