// SPDX-License-Identifier: Apache-2.0
import type { Field } from '../what_if/schema';

/** What the page of `gradway ui` begins with; web/DATA.md describes it. */
export interface UiDocument {
  kind: 'ui';
  schema: number;
  gradway: string;
  title: string;
  /** That is shown at once; '': the list. */
  scenario: string;
  /** Starts the server again. */
  command: string;
  /** Names of the data folders. */
  scenarios: string[];
  /** Files of the folder in which the server was started. */
  own: string[];
  platforms: string[];
  schema_of_scenarios: Field;
}
