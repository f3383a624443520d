// SPDX-License-Identifier: Apache-2.0
// The scale of use: from 0 to a round share above the busiest.

const tops = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1];

export const topOf = (busiest: number): number => tops.find((top) => busiest <= top) ?? 1;
