// SPDX-License-Identifier: Apache-2.0
// The colours of the charts: light, dark, print. Those of the page are in style.css.
//
// Categories: Okabe and Ito, "Color Universal Design" (2008), distinguishable with any kind of colour blindness;
// charts add labels, patterns or shapes. Scales change monotonically in lightness.

export interface Palette {
  name: 'light' | 'dark';
  background: string;
  text: string;
  muted: string;
  line: string;
  grid: string;
  tip: string;
  accent: string;
  band: string;
  /** low to high use of links */
  heat: string[];
  /** small to large, for heat maps */
  scale: string[];
  series: string[];
  phase: Record<string, string>;
  part: Record<string, string>;
  other: string;
}

const phase = {
  forward: '#0072b2',
  backward: '#56b4e9',
  communication: '#e69f00',
  optimizer: '#009e73',
  input: '#cc79a7',
};

const light: Palette = {
  name: 'light',
  background: '#ffffff',
  text: '#1b2430',
  muted: '#5a6675',
  line: '#aab4c0',
  grid: '#e6eaef',
  tip: '#ffffff',
  accent: '#0072b2',
  band: 'rgba(0,114,178,0.16)',
  heat: ['#cfd6df', '#f2c17d', '#e07b1a', '#b23f00', '#6b1a00'],
  scale: ['#eef5fb', '#c2dbee', '#84b8dc', '#3f8cc0', '#0f5e99', '#083763'],
  series: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b58900', '#56b4e9', '#4b5563'],
  phase,
  part: {
    compute: '#0072b2',
    exposed: '#d55e00',
    hidden: '#e69f00',
    input: '#cc79a7',
    optimizer: '#009e73',
    launch: '#e3c800',
    idle: '#a3adb9',
  },
  other: '#8a95a3',
};

const dark: Palette = {
  ...light,
  name: 'dark',
  background: '#171c23',
  text: '#e8edf3',
  muted: '#a3afbd',
  line: '#5b6775',
  grid: '#2a323c',
  tip: '#222932',
  accent: '#56b4e9',
  band: 'rgba(86,180,233,0.22)',
  heat: ['#3b4654', '#7d4a1c', '#c26a17', '#f0a33c', '#ffe3a8'],
  scale: ['#13273b', '#1c456b', '#2668a0', '#4a94cf', '#8fc3ea', '#dceefb'],
  series: ['#56b4e9', '#f0813a', '#2fc79b', '#e39ac4', '#f0e442', '#8aa4ff', '#b6c0cc'],
  phase: { ...phase, forward: '#2a8fd0', communication: '#f0b030', optimizer: '#22b88c' },
  part: { ...light.part, compute: '#2a8fd0', exposed: '#ee7a2d', hidden: '#f0b030', optimizer: '#22b88c', idle: '#6d7885' },
};

export type Mode = 'auto' | 'light' | 'dark';

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');
const onPaper = window.matchMedia('print');
let listeners: { call: () => void; element: Element | undefined }[] = [];
let mode: Mode = 'auto';
let printing = onPaper.matches;

const isDark = (): boolean => !printing && (mode === 'dark' || (mode === 'auto' && prefersDark.matches));

export const palette = (): Palette => (isDark() ? dark : light);
export const isPrinting = (): boolean => printing;
export const currentMode = (): Mode => mode;

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const { call } of listeners) call();
}

/** Light, dark, or the system's choice; kept while the page is open. */
export function setMode(next: Mode): void {
  mode = next;
  apply();
}

/** Called after each change of theme or between screen and paper. @param element for which it is called, if for one */
export const onTheme = (call: () => void, element?: Element): void => void listeners.push({ call, element });

/** Forgets the listeners of elements that are not in the page. */
export const forgetRemoved = (): void => void (listeners = listeners.filter(({ element }) => !element || element.isConnected));

function print(now: boolean): void {
  if (printing === now) return;
  printing = now;
  apply();
}

prefersDark.addEventListener('change', apply);
onPaper.addEventListener('change', (event) => print(event.matches));
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(onPaper.matches));
apply();
