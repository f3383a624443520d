// SPDX-License-Identifier: Apache-2.0
// Tables: the numbers of charts as text, sorted by a click on a heading.
import { h, value, type Child } from './dom';

export interface Cell {
  text: string;
  /** The value of the document, for sorting; kept as data-value. */
  exact?: number | string | null | undefined;
  mark?: string;
}

export interface Table {
  /** Extra columns are shown on request. */
  columns: { name: string; number?: boolean; extra?: boolean }[];
  rows: Cell[][];
  caption: string;
}

export const cell = (text: string, exact?: Cell['exact'], mark?: string): Cell => ({
  text,
  exact: exact === undefined ? text : exact,
  ...(mark ? { mark } : {}),
});

const missing = (exact: Cell['exact']): boolean => exact === null || exact === undefined || exact === '';

function compare(a: Cell, b: Cell): number {
  if (missing(a.exact) || missing(b.exact)) return Number(missing(a.exact)) - Number(missing(b.exact));
  if (typeof a.exact === 'number' && typeof b.exact === 'number') return a.exact - b.exact;
  return String(a.exact).localeCompare(String(b.exact), 'en', { numeric: true });
}

function shown(one: Cell): Child {
  const text = typeof one.exact === 'number' ? value(one.text, one.exact) : one.text;
  return one.mark ? h('span', {}, text, ' ', h('span', { class: 'badge' }, one.mark)) : text;
}

/** Number of rows that a page shows at a time. */
const rowsAtOnce = 500;

/** A table whose headings are buttons that sort it. Missing values stay last. */
export function tableOf(whole: Table): HTMLElement {
  const extras = whole.columns.filter((column) => column.extra).length;
  if (extras === 0) return sortedTable(whole);
  const kept = whole.columns.flatMap((column, i) => (column.extra ? [] : [i]));
  const some: Table = { ...whole, columns: kept.map((i) => whole.columns[i]!), rows: whole.rows.map((row) => kept.map((i) => row[i]!)) };
  const frame = h('div', {}, sortedTable(some));
  const all = h('button', { type: 'button', class: 'all-columns' }, `Show ${extras} more columns`);
  all.addEventListener('click', () => frame.replaceChildren(sortedTable(whole)));
  frame.append(all);
  return frame;
}

function sortedTable(table: Table): HTMLElement {
  const body = h('tbody');
  const heads = table.columns.map((column) => h('th', { scope: 'col', class: column.number ? 'number' : '' }));
  const more = h('button', { type: 'button', class: 'more' });
  let sorted = -1;
  let down = false;
  let most = rowsAtOnce;
  const fill = (): void => {
    const rows = [...table.rows];
    if (sorted >= 0) {
      rows.sort((a, b) => {
        const order = compare(a[sorted]!, b[sorted]!);
        const stays = missing(a[sorted]!.exact) || missing(b[sorted]!.exact);
        return down && !stays ? -order : order;
      });
    }
    body.replaceChildren(
      ...rows.slice(0, most).map((row) =>
        h('tr', {}, ...row.map((one, i) => h('td', { class: table.columns[i]!.number ? 'number' : '' }, shown(one)))),
      ),
    );
    more.hidden = rows.length <= most;
    more.textContent = `Show ${Math.min(rowsAtOnce, rows.length - most)} more of the ${rows.length - most} rows below`;
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== sorted ? 'none' : down ? 'descending' : 'ascending'));
  };
  heads.forEach((head, i) => {
    const sort = h('button', { type: 'button' }, table.columns[i]!.name);
    sort.addEventListener('click', () => {
      down = sorted === i ? !down : false;
      sorted = i;
      most = rowsAtOnce;
      fill();
    });
    head.append(sort);
  });
  more.addEventListener('click', () => {
    most += rowsAtOnce;
    fill();
  });
  fill();
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': table.caption },
    h('table', { class: 'data' }, h('caption', { class: 'hidden' }, table.caption), h('thead', {}, h('tr', {}, ...heads)), body),
    more,
  );
}

/** Only short tables are printed. */
const printed = 16;

/** "As table", filled whenever it is opened; 'fill' fills it without opening (for printing, which does not wait). */
export function tableDetails(make: () => Table, count: number): HTMLDetailsElement {
  const details = h('details', { class: 'as-table' }, h('summary', {}, 'As table'));
  if (count <= printed) details.dataset.print = '';
  const fill = (): void => {
    details.querySelector('summary ~ *')?.remove();
    details.append(tableOf(make()));
  };
  details.addEventListener('toggle', () => details.open && fill());
  details.addEventListener('fill', fill);
  return details;
}
