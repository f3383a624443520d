// SPDX-License-Identifier: Apache-2.0
export const comparePage = (_: unknown): HTMLElement[] => [];
