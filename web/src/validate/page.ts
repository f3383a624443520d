// SPDX-License-Identifier: Apache-2.0
// Predictions against measurements.
import type { Case, ValidateDocument } from '../document';
import { h } from '../dom';
import { known, percentText, signedPercentText } from '../format';
import { tiles, title } from '../header';
import { errors } from './errors';
import { predictedAgainstMeasured } from './scatter';
import { caseTable } from './table';
import { section } from '../chart';
import { counted } from '../format';
import { tableOf } from '../table';

/** Anchors to paste for cases outside their interval. */
const anchors = (cases: Case[]): HTMLElement[] => {
  const found = cases.filter((one) => one.anchor);
  if (found.length === 0) return [];
  const notes = found.map((one) => h('div', {}, h('p', {}, one.name), h('pre', {}, one.anchor!)));
  return [section('anchors', 'Anchors', 'Cases outside their interval; with these lines in the scenario the prediction matches the measurement', h('div', {}, ...notes))];
};

export function validatePage(data: ValidateDocument): HTMLElement[] {
  const { validate } = data;
  const worst = validate.cases.find((one) => !one.is_given && Math.abs(one.error) === validate.max_abs_error);
  const count = validate.counted ?? validate.cases.length;
  const given = validate.cases.length - count;
  const groups = validate.coverage ?? [];
  const parts = [
    title(data.title, validate.source ? `Measured: ${validate.source}` : 'Predictions against measurements'),
    tiles([
      { name: 'Mean absolute error', text: percentText(validate.mean_abs_error), exact: validate.mean_abs_error, notes: [counted(count, 'case'), given > 0 && `${given} more are anchors of the prediction`] },
      { name: 'Median absolute error', text: percentText(validate.median_abs_error), exact: validate.median_abs_error },
      { name: 'Worst', text: worst ? signedPercentText(worst.error) : percentText(validate.max_abs_error), exact: validate.max_abs_error, notes: [worst?.name] },
      known(validate.in_interval) && { name: 'In the 90 % interval', text: `${validate.in_interval} of ${count}`, exact: validate.in_interval, notes: ['90 % are expected', ...(groups.length > 1 ? groups.map((one) => `${one.group}: ${one.in_interval} of ${one.cases}`) : [])] },
      { name: 'Bias', text: signedPercentText(validate.bias), exact: validate.bias, notes: [validate.bias > 0 ? 'predicted too slow on average' : 'predicted too fast on average'] },
    ]),
    ...(validate.cases.length === 0
      ? [h('p', { class: 'box' }, 'There are no cases.')]
      : [
          predictedAgainstMeasured(validate.cases),
          errors(validate.cases),
          section('cases', 'Table', `${counted(validate.cases.length, 'case')}, sorted by a click on a heading`, tableOf(caseTable(validate.cases))),
          ...anchors(validate.cases),
        ]),
  ];
  return parts;
}
