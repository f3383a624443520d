// SPDX-License-Identifier: Apache-2.0
// Shapes of points, so that series can be distinguished without colour; style as `.shape` in charts.css.

const shapes: [name: string, symbol: string][] = [
  ['circle', 'circle'],
  ['square', 'rect'],
  ['triangle', 'triangle'],
  ['diamond', 'diamond'],
  ['cross', 'path://M35 0h30v35h35v30h-35v35h-30v-35h-35v-30h35z'],
  ['star', 'path://M50 0L61 35L98 35L68 57L79 91L50 70L21 91L32 57L2 35L39 35Z'],
  ['drop', 'path://M50 0L95 60A50 50 0 0 1 5 60Z'],
];

/** Name in the chart library. */
export const symbolOf = (index: number): string => shapes[index % shapes.length]![1];

/** Name in the style sheet. */
export const shapeOf = (index: number): string => shapes[index % shapes.length]![0];
