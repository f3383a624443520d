// SPDX-License-Identifier: Apache-2.0
// What the schema of a scenario says of a key.

/** The parts of JSON Schema that `gradway schema` uses. */
export interface Field {
  type?: string;
  enum?: (string | number)[];
  anyOf?: Field[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
  properties?: Record<string, Field>;
  allOf?: { if: { properties: Record<string, { const: string }> }; then: { propertyNames: { enum: string[] } } }[];
}

const own = (map: Record<string, unknown> | undefined, key: string): boolean => map !== undefined && Object.prototype.hasOwnProperty.call(map, key);

/** The field of a key with dots; undefined: there is none. */
export function fieldOf(schema: Field, key: string): Field | undefined {
  let field: Field | undefined = schema;
  for (const part of key.split('.')) field = own(field?.properties, part) ? field!.properties![part] : undefined;
  return field;
}

/** Whether a strategy of this kind has a key such as 'strategy.bucket_cap'; true of keys of other groups. */
export function isOfKind(schema: Field, kind: string, key: string): boolean {
  const rule = fieldOf(schema, 'strategy')?.allOf?.find(({ if: { properties } }) => properties.kind?.const === kind);
  const [group, name] = key.split('.', 2);
  return group !== 'strategy' || !name || !rule || rule.then.propertyNames.enum.includes(name);
}

/** All keys with a value, in the order of the schema. */
export function keysOf(schema: Field, start = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => (field.properties ? keysOf(field, `${start}${name}.`) : [start + name]));
}

/** The value of a key in a scenario of a report, as text; '': it is not there. */
export function valueOf(scenario: unknown, key: string): string {
  let value = scenario;
  for (const part of key.split('.')) value = own(value as Record<string, unknown>, part) ? (value as Record<string, unknown>)[part] : undefined;
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
