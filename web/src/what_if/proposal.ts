// SPDX-License-Identifier: Apache-2.0
// The change that the program's error proposes.
import { fieldOf, type Field } from './schema';

/** "hint: job.gpus 4 would fit", "hint: set job.precision to bf16" */
const named = /^ *hint: (?:set )?([a-z_]+\.[a-z_]+) (?:to )?(\w+)(?: would fit| or more)?(?:,.*)?$/m;
/** "hint: write 'kind: ddp', or 'gpus: 1'" */
const written = /^ *hint: write '([a-z_]+): (\w+)'/m;

/** A key and its value; null: the error proposes none. */
export function proposed(error: string, schema: Field): [key: string, value: string] | null {
  const whole = named.exec(error);
  if (whole && fieldOf(schema, whole[1]!)) return [whole[1]!, whole[2]!];
  const [, name, value] = written.exec(error) ?? [];
  const isSwitch = value === 'true' || value === 'false';
  const key = ['job', 'strategy', 'parallel'].map((group) => `${group}.${name}`).find((one) => fieldOf(schema, one) && (fieldOf(schema, one)!.type === 'boolean') === isSwitch);
  return key ? [key, value!] : null;
}
