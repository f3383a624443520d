// SPDX-License-Identifier: Apache-2.0
// Opens short folded parts before printing and closes them afterwards.
import { isPrinting, onTheme } from './theme';

export function printing(): void {
  let opened: HTMLDetailsElement[] = [];
  onTheme(() => {
    if (isPrinting() && opened.length === 0) {
      opened = [...document.querySelectorAll<HTMLDetailsElement>('details[data-print]:not([open])')];
      for (const details of opened) {
        details.open = true;
        details.dispatchEvent(new Event('fill'));
      }
    } else if (!isPrinting()) {
      for (const details of opened.splice(0)) details.open = false;
    }
  });
}
