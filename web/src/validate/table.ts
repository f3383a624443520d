// SPDX-License-Identifier: Apache-2.0
// The table of all cases of a validation, and the tooltip of one.
import type { Case } from '../document';
import { tip } from '../dom';
import { rangeText, signedPercentText, timeText } from '../format';
import { cell, type Table } from '../table';

export const caseTip = (one: Case): string =>
  tip(one.name, [
    ['measured', timeText(one.measured_s), one.measured_s],
    ['predicted', timeText(one.predicted_s), one.predicted_s],
    one.interval_s ? ['90 % interval', rangeText(one.interval_s)] : null,
    ['error', signedPercentText(one.error), one.error],
  ]);

export const caseTable = (cases: Case[]): Table => ({
  caption: 'All cases',
  columns: [{ name: 'case' }, { name: 'measured', number: true }, { name: 'predicted', number: true }, { name: '90 % interval', number: true }, { name: 'error', number: true }],
  rows: cases.map((one) => [
    cell(one.name),
    cell(timeText(one.measured_s), one.measured_s),
    cell(timeText(one.predicted_s), one.predicted_s),
    cell(rangeText(one.interval_s), one.interval_s?.[0] ?? null),
    cell(signedPercentText(one.error), one.error),
  ]),
});
