// SPDX-License-Identifier: Apache-2.0
// One or two keys to sweep, and their values.
import { section } from '../chart';
import { h } from '../dom';
import { fieldOf, keysOf, type Field } from '../what_if/schema';

/** The form's texts for an axis of the address: "job.gpus=1,2" gives both. */
const halves = (text = ''): [key: string, values: string] => {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

/** @param vary what the fields begin with @param start called with the axes */
export function sweepForm(schema: Field, vary: string[], start: (vary: string[]) => void): HTMLElement {
  const axis = (which: string, [key, values]: [string, string], example: [string, string], required: boolean) => {
    const name = h('input', { type: 'text', list: 'sweep-keys', value: key, placeholder: example[0], required, autocomplete: 'off', 'aria-label': `${which} key`, size: 24 });
    const list = h('input', { type: 'text', value: values, placeholder: example[1], required, autocomplete: 'off', 'aria-label': `Values of the ${which.toLowerCase()} key`, size: 28 });
    const help = h('p', { class: 'hint' });
    const explain = (): void => {
      help.textContent = fieldOf(schema, name.value.trim())?.description ?? '';
      if (!required) list.required = name.value.trim() !== '';
    };
    name.addEventListener('input', explain);
    explain();
    const element = h('div', {}, h('div', { class: 'controls' }, h('label', { class: 'choice' }, h('span', {}, `${which} key`), name), h('label', { class: 'choice' }, h('span', {}, 'Values, with commas, or a range such as 1..8'), list)), help);
    return { element, text: () => (name.value.trim() ? `${name.value.trim()}=${list.value.trim()}` : '') };
  };
  const first = axis('First', halves(vary[0]), ['job.gpus', '1,2,4,8'], true);
  const second = axis('Second', halves(vary[1]), ['strategy.bucket_cap', '25 MiB,100 MiB'], false);
  const form = h(
    'form',
    {},
    h('datalist', { id: 'sweep-keys' }, ...keysOf(schema).map((key) => h('option', { value: key }))),
    first.element,
    second.element,
    h('div', { class: 'controls' }, h('button', { type: 'submit' }, 'Sweep')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    start([first, second].map(({ text }) => text()).filter(Boolean));
  });
  return section('sweep', 'Sweep', 'Simulate several values of a key, or all combinations of two', form);
}
