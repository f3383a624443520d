// SPDX-License-Identifier: Apache-2.0
// The controls of a what-if: a slider or a choice for the keys that are changed most, and a field for every other key.
import { button, h } from '../dom';
import { fieldOf, keysOf, type Field } from './schema';

interface Knob {
  key: string;
  label: string;
  /** Only with these kinds of strategy. */
  kinds?: string[];
}

const groups: { name: string; knobs: Knob[] }[] = [
  {
    name: 'Job',
    knobs: [
      { key: 'job.gpus', label: 'GPUs' },
      { key: 'job.batch_per_gpu', label: 'Batch per GPU' },
      { key: 'job.accumulate', label: 'Accumulated micro-batches' },
      { key: 'job.precision', label: 'Precision' },
      { key: 'job.recompute', label: 'Recompute' },
      { key: 'optimizer', label: 'Optimizer' },
    ],
  },
  {
    name: 'Hardware',
    knobs: [
      { key: 'platform', label: 'Platform' },
      { key: 'faster.gpu', label: 'Speed of GPUs' },
      { key: 'faster.network', label: 'Bandwidth of the network' },
      { key: 'faster.nvlink', label: 'Bandwidth of NVLink' },
      { key: 'faster.pcie', label: 'Bandwidth of PCIe' },
      { key: 'faster.host_memory', label: 'Bandwidth of host memory' },
      { key: 'faster.cpu', label: 'Speed of CPUs' },
    ],
  },
  {
    name: 'Exchange',
    knobs: [
      { key: 'strategy.kind', label: 'Strategy' },
      { key: 'strategy.bucket_cap', label: 'Bucket size', kinds: ['ddp'] },
      { key: 'strategy.comm_hook', label: 'Communication hook', kinds: ['ddp'] },
      { key: 'strategy.reshard_after_forward', label: 'Reshard after forward', kinds: ['fsdp'] },
      { key: 'strategy.stage', label: 'ZeRO stage', kinds: ['zero'] },
    ],
  },
  {
    name: 'Layout',
    knobs: [
      { key: 'parallel.tensor', label: 'Tensor parallel' },
      { key: 'parallel.pipeline', label: 'Pipeline stages' },
      { key: 'parallel.context', label: 'Context parallel' },
      { key: 'parallel.expert', label: 'Expert parallel' },
    ],
  },
];

const factors = ['0.125', '0.25', '0.5', '0.75', '1', '1.25', '1.5', '2', '3', '4', '8', '16'];
const sizes = ['1 MiB', '5 MiB', '10 MiB', '25 MiB', '50 MiB', '100 MiB', '200 MiB', '400 MiB', '1000 MiB', '2000 MiB'];

/** Powers of two around the value; all integers if there are few. */
function integers({ minimum = 1, maximum = 2 ** 20 }: Field, value: string): string[] {
  if (maximum - minimum < 16) return Array.from({ length: maximum - minimum + 1 }, (_, i) => String(minimum + i));
  const most = Math.min(maximum, Math.max(64, 64 * (Number(value) || 1)));
  const all = [];
  for (let power = 1; power <= most; power *= 2) if (power >= minimum) all.push(String(power));
  return all;
}

/** The values of a slider with the present one, in order. */
function stops(key: string, field: Field, value: string): string[] {
  const all = key.startsWith('faster.') ? factors : field.type === 'integer' ? integers(field, value) : sizes;
  if (value === '' || all.includes(value)) return all;
  return [...all, value].sort((a, b) => parseFloat(a) - parseFloat(b));
}

/** The values of a choice; null: the key has a slider. */
function options(key: string, field: Field, platforms: string[]): string[] | null {
  if (key === 'platform') return platforms;
  const either = field.anyOf ?? [field];
  const values = either.flatMap((one) => (one.enum ? one.enum.map(String) : one.type === 'boolean' ? ['true', 'false'] : []));
  return values.length > 0 ? values : null;
}

export interface Control {
  element: HTMLElement;
  /** @param value of the key; '': it has its default @param kind of strategy */
  show(value: string, kind: string): void;
}

/** Called with a new value; '' takes the change back. @param isFinal false while a slider is moved */
type Change = (key: string, value: string, isFinal: boolean) => void;

function chooser({ key, label, kinds }: Knob, values: string[], help: string, change: Change): Control {
  const select = h('select', { 'aria-label': label, 'data-key': key });
  select.addEventListener('change', () => change(key, select.value, true));
  const element = h('label', { class: 'choice', title: help }, h('span', {}, label), select);
  return {
    element,
    show(value, kind) {
      element.hidden = kinds !== undefined && !kinds.includes(kind);
      const all = values.includes(value) ? values : [value, ...values];
      select.replaceChildren(...all.map((one) => h('option', { value: one, selected: one === value }, one || 'default')));
      select.value = value;
    },
  };
}

function slider({ key, label, kinds }: Knob, field: Field, change: Change): Control {
  const help = field.description ?? '';
  const range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': label, 'data-key': key });
  const exact = h('input', { type: 'text', 'aria-label': `${label}, exact value`, size: 8, autocomplete: 'off', 'data-exact': key });
  const element = h('div', { class: 'choice knob', title: help }, h('span', {}, label), h('span', { class: 'slider' }, range, exact));
  let values: string[] = [];
  const chosen = (): string => values[Number(range.value)]!;
  const move = (isFinal: boolean): void => {
    exact.value = chosen();
    range.setAttribute('aria-valuetext', chosen());
    change(key, chosen(), isFinal);
  };
  range.addEventListener('input', () => move(false));
  range.addEventListener('change', () => move(true));
  exact.addEventListener('change', () => change(key, exact.value.trim(), true));
  return {
    element,
    show(value, kind) {
      element.hidden = kinds !== undefined && !kinds.includes(kind);
      if (!values.includes(value)) values = stops(key, field, value);
      range.max = String(values.length - 1);
      if (values.includes(value)) range.value = String(values.indexOf(value));
      range.setAttribute('aria-valuetext', value || 'default');
      if (document.activeElement !== exact || exact.value === '') exact.value = value;
      exact.placeholder = 'default';
    },
  };
}

/** A field for any key. */
function other(schema: Field, change: Change): HTMLElement {
  const list = h('datalist', { id: 'what-if-keys' }, ...keysOf(schema).map((key) => h('option', { value: key })));
  const key = h('input', { type: 'text', list: 'what-if-keys', 'aria-label': 'Another key', placeholder: 'job.compile', autocomplete: 'off', size: 22 });
  const value = h('input', { type: 'text', 'aria-label': 'Value of the other key', placeholder: 'true', autocomplete: 'off', size: 10 });
  const help = h('p', { class: 'hint' });
  key.addEventListener('input', () => (help.textContent = fieldOf(schema, key.value)?.description ?? ''));
  const form = h('form', { class: 'controls' }, h('label', { class: 'choice' }, h('span', {}, 'Another key'), key), h('label', { class: 'choice' }, h('span', {}, 'Value'), value), h('button', { type: 'submit' }, 'Set'), list);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change(key.value.trim(), value.value.trim(), true);
  });
  return h('div', {}, form, help);
}

/** All controls. @param valueOf value of a key at present; '': it has its default */
export function controls(schema: Field, platforms: string[], change: Change): { element: HTMLElement; show(valueOf: (key: string) => string): void } {
  const made: (Control & { key: string })[] = [];
  const make = (knob: Knob): HTMLElement | null => {
    const field = fieldOf(schema, knob.key);
    if (!field) return null;
    const values = options(knob.key, field, platforms);
    const control = values ? chooser(knob, values, field.description ?? '', change) : slider(knob, field, change);
    made.push({ ...control, key: knob.key });
    return control.element;
  };
  const element = h(
    'div',
    { class: 'knobs' },
    ...groups.map(({ name, knobs }) => h('fieldset', {}, h('legend', {}, name), h('div', { class: 'controls' }, ...knobs.map(make)))),
    other(schema, change),
  );
  return { element, show: (valueOf) => made.forEach((control) => control.show(valueOf(control.key), valueOf('strategy.kind') || 'ddp')) };
}

/** The changes, each with a button that takes it back. */
export const chips = (changes: ReadonlyMap<string, string>, before: (key: string) => string, change: Change): HTMLElement =>
  h(
    'ul',
    { class: 'chips', 'aria-label': 'Changes' },
    ...[...changes].map(([key, value]) => h('li', {}, `${key}: ${before(key) || 'default'} → ${value} `, button('×', `Take back the change of ${key}`, () => change(key, '', true)))),
  );
