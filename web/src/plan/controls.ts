// SPDX-License-Identifier: Apache-2.0
// The controls of the planner.
import { button, choice, h } from '../dom';
import { countText, digits, known } from '../format';
import { listOf } from './choices';
import type { Choices, ListedPlatform, PlanDocument } from './document';

export interface Controls {
  element: HTMLElement;
  show(choices: Choices): void;
  /** Adds a model of the reader. @param tokens of a sample; 0: unknown */
  addModel(name: string, tokens: number): void;
}

const frameworkNames: Record<string, string> = { pytorch: 'PyTorch (torchtitan)', megatron: 'Megatron-LM' };
const others = ['Other clouds', 'Without a price'];
const vendors: [start: string, name: string][] = [['aws-', 'AWS'], ['azure-', 'Azure'], ['gcp-', 'Google Cloud'], ['oci-', 'Oracle']];

const vendorOf = ({ name, cost_usd_per_hour: cost }: ListedPlatform): string => vendors.find(([start]) => name.startsWith(start))?.[1] ?? others[known(cost) ? 0 : 1]!;

/** "8 × h100-sxm, 55.04 USD/h" */
const describe = ({ gpu, gpus_per_node: gpus, cost_usd_per_hour: cost }: ListedPlatform): string =>
  [gpu ? `${gpus ?? '?'} × ${gpu}` : '', known(cost) ? `${digits(cost)} USD/h` : 'no price'].filter(Boolean).join(', ');

/** A file that is chosen or dropped. */
function fileField(label: string, take: (name: string, text: string) => void): HTMLElement {
  const input = h('input', { type: 'file', accept: '.json,application/json', class: 'hidden', tabindex: -1, 'aria-label': label });
  const read = async (file: File | undefined): Promise<void> => {
    if (file) take(file.name, await file.text());
    input.value = '';
  };
  input.addEventListener('change', () => void read(input.files?.[0]));
  const area = h('div', { class: 'drop' }, button(label, 'Choose a config.json of Hugging Face; or drop it here, or paste its text', () => input.click()), input);
  area.addEventListener('dragover', (event) => event.preventDefault());
  area.addEventListener('drop', (event) => {
    event.preventDefault();
    event.stopPropagation();
    void read(event.dataTransfer?.files[0]);
  });
  addEventListener('paste', (event) => {
    const text = event.clipboardData?.getData('text') ?? '';
    if (!/^\s*\{/.test(text) || (event.target as Element).matches('textarea')) return;
    event.preventDefault();
    take('config.json', text);
  });
  return area;
}

/** @param change called with the keys that the reader changed @param take called with a file of a model */
export function controls({ plan }: PlanDocument, change: (changed: Partial<Choices>) => void, take: (name: string, text: string) => void): Controls {
  const shown: ((choices: Choices) => void)[] = [];
  const select = (key: keyof Choices, label: string, options: [string, string][]): HTMLElement => {
    const element = choice(label, options, '', (value) => change({ [key]: value }));
    const list = element.querySelector('select')!;
    list.dataset.choice = key;
    shown.push((choices) => (list.value = choices[key]));
    return element;
  };
  const text = (key: keyof Choices, label: string, placeholder: string, size = 12): HTMLElement => {
    const input = h('input', { type: 'text', 'aria-label': label, placeholder, size, autocomplete: 'off', 'data-choice': key });
    input.addEventListener('change', () => change({ [key]: input.value.trim() }));
    shown.push((choices) => document.activeElement !== input && (input.value = choices[key]));
    return h('label', { class: 'choice' }, h('span', {}, label), input);
  };

  const tokensOf = new Map(plan.models.map(({ name, tokens_per_sample: tokens }) => [name, tokens]));
  const models = plan.models.map(({ name }): [string, string] => [name, name]);
  const model = select('model', 'Model', [['', 'choose a model'], ...models]);
  const modelList = model.querySelector('select')!;

  // Synthetic platforms are for analysis.
  const boxes = plan.platforms.filter(({ gpu }) => gpu !== 'ideal').map((platform) => {
    const box = h('input', { type: 'checkbox', value: platform.name, 'data-platform': platform.name });
    box.addEventListener('change', () => change({ platforms: boxes.filter(({ box: one }) => one.checked).map(({ box: one }) => one.value).join(',') }));
    return { box, platform, row: h('label', { class: 'platform' }, box, h('span', {}, platform.name, ' ', h('span', { class: 'hint' }, describe(platform)))) };
  });
  const filter = h('input', { type: 'text', 'aria-label': 'Filter platforms', placeholder: 'h100, aws, gb200 …', size: 16, autocomplete: 'off' });
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const { platform, row } of boxes) row.hidden = !words.every((word) => `${platform.name} ${platform.gpu ?? ''}`.toLowerCase().includes(word));
  });
  shown.push(({ platforms }) => {
    const chosen = new Set(listOf(platforms));
    for (const { box, platform } of boxes) box.checked = chosen.has(platform.name);
  });
  const groups = [...vendors.map(([, name]) => name), ...others].map((vendor) => {
    const rows = boxes.filter(({ platform }) => vendorOf(platform) === vendor).map(({ row }) => row);
    return rows.length > 0 && h('fieldset', {}, h('legend', {}, vendor), ...rows);
  });

  const element = h(
    'div',
    { class: 'plan-controls' },
    h('fieldset', {}, h('legend', {}, 'Training'), h('div', { class: 'controls' },
      model,
      fileField('or a config.json …', take),
      text('data', 'Tokens, or samples', '300B'),
      text('sequence', 'Sequence length', 'of the model', 10),
      text('global_batch', 'Samples per step', 'about 4 Mi tokens', 14),
      select('framework', 'Framework', plan.frameworks.map((name) => [name, frameworkNames[name] ?? name])),
    )),
    h('fieldset', {}, h('legend', {}, 'Hardware'), h('div', { class: 'controls' },
      text('gpus', 'GPUs', '64, 128'),
      select('terms', 'Payment terms', plan.terms.map((name) => [name, name.replace(/_/g, ' ')])),
      select('failures', 'Failures as in', plan.failures.map((name) => [name, name])),
    ),
    h('details', { class: 'platforms' }, h('summary', {}, 'Platforms'), h('label', { class: 'choice' }, h('span', {}, 'Filter'), filter), h('div', { class: 'vendors' }, ...groups))),
    h('fieldset', {}, h('legend', {}, 'Limits'), h('div', { class: 'controls' }, text('deadline', 'Deadline', '30 days'), text('budget', 'Budget', '1M USD'))),
  );
  const sequence = element.querySelector<HTMLInputElement>('[data-choice="sequence"]')!;
  shown.push(({ model }) => (sequence.placeholder = tokensOf.get(model) ? countText(tokensOf.get(model)) : 'of the model'));
  const summary = element.querySelector<HTMLElement>('.platforms > summary')!;
  const details = summary.parentElement as HTMLDetailsElement;
  shown.push(({ platforms }) => {
    summary.textContent = `Platforms: ${listOf(platforms).join(', ') || 'none chosen'}`;
    if (platforms === '') details.open = true;
  });
  return {
    element,
    show: (choices) => shown.forEach((one) => one(choices)),
    addModel: (name, tokens) => {
      tokensOf.set(name, tokens);
      if (![...modelList.options].some(({ value }) => value === name)) modelList.append(h('option', { value: name }, name));
    },
  };
}
