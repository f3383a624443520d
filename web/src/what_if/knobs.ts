// SPDX-License-Identifier: Apache-2.0
// The controls of a what-if: a slider or a choice for the keys that are changed most, and a field for every other key.
import { button, h } from '../dom';
import { fieldOf, isOfKind, keysOf, type Field } from './schema';

interface Knob {
  key: string;
  label: string;
  /** The values of a choice and what they are called; other values are not offered. */
  words?: ReadonlyMap<string, string>;
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
      { key: 'faster.nvlink', label: 'GPUs are connected by', words: new Map([['1', 'NVLink, if the platform has it'], ['0', 'PCIe, without NVLink']]) },
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
      { key: 'strategy.bucket_cap', label: 'Bucket size' },
      { key: 'strategy.comm_hook', label: 'Communication hook' },
      { key: 'strategy.reshard_after_forward', label: 'Reshard after forward' },
      { key: 'strategy.stage', label: 'ZeRO stage' },
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

/** Value of a key at present; '': it has its default, which is not known. */
type ValueOf = (key: string) => string;

/** Powers of two around the value; all integers if there are few. */
function integers({ minimum = 1, maximum = 2 ** 20 }: Field, value: string): string[] {
  if (maximum - minimum < 16) return Array.from({ length: maximum - minimum + 1 }, (_, i) => String(minimum + i));
  const most = Math.min(maximum, Math.max(64, 64 * (Number(value) || 1)));
  const all = [];
  for (let power = 1; power <= most; power *= 2) if (power >= minimum) all.push(String(power));
  return all;
}

const product = (keys: string[], valueOf: ValueOf): number => keys.reduce((all, key) => all * (Number(valueOf(key)) || 1), 1);

/** Ranks that hold one model: the product of these degrees of the layout divides the GPUs. */
const ofModel = ['parallel.tensor', 'parallel.pipeline', 'parallel.context'];
/** The same for the experts of all stages. */
const ofExperts = ['parallel.expert', 'parallel.expert_tensor', 'parallel.pipeline'];
const degrees = [...ofModel, ...ofExperts];

/** Numbers of GPUs that the layout divides. */
function gpus(valueOf: ValueOf): string[] {
  const [model, experts] = [product(ofModel, valueOf), product(ofExperts, valueOf)];
  let unit = model;
  while (unit % experts !== 0) unit += model;
  return integers({}, String(Number(valueOf('job.gpus')) / unit)).map((count) => String(Number(count) * unit));
}

/** Values of a degree with which the layout divides the GPUs. */
function divisors(key: string, field: Field, valueOf: ValueOf): string[] {
  const isDivided = (degree: string): boolean => {
    const now: ValueOf = (one) => (one === key ? degree : valueOf(one));
    return [ofModel, ofExperts].every((keys) => Number(valueOf('job.gpus')) % product(keys, now) === 0);
  };
  return integers(field, valueOf(key)).filter(isDivided);
}

/** The values of a slider with the present one, in order. */
function stops(key: string, field: Field, valueOf: ValueOf): string[] {
  const value = valueOf(key);
  const all = () => {
    if (key.startsWith('faster.')) return factors;
    if (key === 'job.gpus') return gpus(valueOf);
    if (key.startsWith('parallel.')) return divisors(key, field, valueOf);
    return field.type === 'integer' ? integers(field, value) : sizes;
  };
  const found = all();
  return value === '' || found.includes(value) ? found : [...found, value].sort((a, b) => parseFloat(a) - parseFloat(b));
}

/** Strategies of a training with the keys that any scenario has. */
function kinds(all: string[], valueOf: ValueOf): string[] {
  const isOne = Number(valueOf('job.gpus')) === product(ofModel, valueOf); // model
  return all.filter((kind) => kind !== 'collective' && kind !== 'local_sgd' && (kind !== 'none' || isOne));
}

/** The values of a choice; null: the key has a slider. */
function options({ key, words }: Knob, field: Field, platforms: string[]): ((valueOf: ValueOf) => string[]) | null {
  if (words) return () => [...words.keys()];
  if (key === 'platform') return () => platforms;
  const either = field.anyOf ?? [field];
  const values = either.flatMap((one) => (one.enum ? one.enum.map(String) : one.type === 'boolean' ? ['true', 'false'] : []));
  if (values.length === 0) return null;
  return key === 'strategy.kind' ? (valueOf) => kinds(values, valueOf) : () => values;
}

export interface Control {
  element: HTMLElement;
  show(valueOf: ValueOf): void;
}

/** Called with a new value; '' takes the change back. @param isFinal false while a slider is moved */
type Change = (key: string, value: string, isFinal: boolean) => void;

function chooser({ key, label, words }: Knob, valuesFor: (valueOf: ValueOf) => string[], help: string, change: Change): Control {
  const select = h('select', { 'aria-label': label, 'data-key': key });
  select.addEventListener('change', () => change(key, select.value, true));
  const element = h('label', { class: 'choice', title: help }, h('span', {}, label), select);
  return {
    element,
    show(valueOf) {
      const value = valueOf(key);
      const values = valuesFor(valueOf);
      const all = values.includes(value) ? values : [value, ...values];
      select.replaceChildren(...all.map((one) => h('option', { value: one, selected: one === value }, (words?.get(one) ?? one) || 'default')));
      select.value = value;
    },
  };
}

function slider({ key, label }: Knob, field: Field, change: Change): Control {
  const help = field.description ?? '';
  const range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': label, 'data-key': key });
  const exact = h('input', { type: 'text', 'aria-label': `${label}, exact value`, size: 8, autocomplete: 'off', 'data-exact': key });
  const element = h('div', { class: 'choice knob', title: help }, h('span', {}, label), h('span', { class: 'slider' }, range, exact));
  let values: string[] = [];
  let madeFor = '';
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
    show(valueOf) {
      const value = valueOf(key);
      const now = ['job.gpus', ...degrees].map((one) => one !== key && valueOf(one)).join();
      if (now !== madeFor || !values.includes(value)) values = stops(key, field, valueOf); // else they stay under a moving thumb
      madeFor = now;
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

/** All controls. `show` with the axes of a layout along which the model can be distributed; all if they are not known. */
export function controls(schema: Field, platforms: string[], change: Change): { element: HTMLElement; show(valueOf: ValueOf, axes?: string[]): void } {
  const made: (Control & { key: string })[] = [];
  const make = (knob: Knob): HTMLElement | null => {
    const field = fieldOf(schema, knob.key);
    if (!field) return null;
    const values = options(knob, field, platforms);
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
  const layout = [...element.querySelectorAll('fieldset')].pop()!;
  const show = (valueOf: ValueOf, axes?: string[]): void => {
    const kind = valueOf('strategy.kind') || 'ddp';
    const isPossible = (key: string): boolean => !axes || !key.startsWith('parallel.') || axes.some((axis) => key === `parallel.${axis}`) || Number(valueOf(key)) > 1;
    layout.hidden = axes?.length === 0;
    for (const control of made) {
      control.element.hidden = !isOfKind(schema, kind, control.key) || !isPossible(control.key);
      control.show(valueOf);
    }
  };
  return { element, show };
}

/** The changes, each with a button that takes it back. */
export const chips = (changes: ReadonlyMap<string, string>, before: (key: string) => string, change: Change): HTMLElement =>
  h(
    'ul',
    { class: 'chips', 'aria-label': 'Changes' },
    ...[...changes].map(([key, value]) => h('li', {}, `${key}: ${before(key) || 'default'} → ${value} `, button('×', `Take back the change of ${key}`, () => change(key, '', true)))),
  );
