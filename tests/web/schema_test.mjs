// SPDX-License-Identifier: Apache-2.0
// What `gradway schema` prints, in the validator that editors use for YAML:  node schema_test.mjs GRADWAY
//
// Every file that is shipped is valid, and each mistake is shown where it stands.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(join(root, 'web', 'package.json'));
const { getLanguageService } = require('yaml-language-server');
const { TextDocument } = require('vscode-languageserver-textdocument');
const { SettingsState } = require('yaml-language-server/out/server/src/yamlSettings');

const program = process.argv[2];
const schema = JSON.parse(execFileSync(program, ['schema'], { encoding: 'utf8' }));
const service = getLanguageService({
  schemaRequestService: () => Promise.reject(new Error('no network')),
  workspaceContext: { resolveRelativePath: (path) => path },
  yamlSettings: new SettingsState(),
  telemetry: { send: () => {}, sendError: (name, error) => { throw error; }, sendTrack: () => {} },
});
const configure = (kind, kindSchema) => service.configure({
  validate: true,
  completion: true,
  hover: true,
  schemas: [{ uri: `file:///gradway-${kind}.json`, fileMatch: ['*.yaml'], schema: kindSchema }],
});
configure('scenario', schema);

let version = 0; // the service keeps what it has parsed by version
const document = (text) => TextDocument.create('file:///scenario.yaml', 'yaml', (version += 1), text);
const problems = async (text) => (await service.doValidation(document(text), false)).map((one) => `${one.range.start.line + 1}: ${one.message}`);

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : entry.name.endsWith('.yaml') ? [path] : [];
  });
}

let scenarios = 0;
for (const path of files(join(root, 'scenarios'))) {
  const text = readFileSync(path, 'utf8');
  if (/^cases:/m.test(text)) continue;
  scenarios += 1;
  assert.deepEqual(await problems(text), [], path);
}
assert.ok(scenarios > 50, `${scenarios} scenarios were looked at`);

const good = `schema: 1
model: vit_l_32
platform: aws-p4d.24xlarge
job: { gpus: 8, batch_per_gpu: 32, precision: bf16 }
strategy: { kind: fsdp, wrap: 2 blocks, reshard_after_forward: 4 }
optimizer: adamw
`;
assert.deepEqual(await problems(good), []);

// What a user gets wrong, and the line that must be marked.
const wrong = [
  ['precision: bf16', 'precision: bfloat16', 4],
  ['gpus: 8', 'gpus: eight', 4],
  ['gpus: 8', 'gpu: 8', 4],
  ['batch_per_gpu: 32', 'batch_per_gpu: 0', 4],
  ['kind: fsdp', 'kind: fully_sharded', 5],
  ['kind: fsdp', 'kind: fsdp, stage: 3', 5],
  ['kind: fsdp', 'kind: fsdp, bucket_cap: 25 MiB', 5],
  ['kind: fsdp, wrap: 2 blocks, reshard_after_forward: 4', 'kind: ddp, bucket_cap: 25', 5],
  ['kind: fsdp, wrap: 2 blocks, reshard_after_forward: 4', 'kind: ddp, bucket_cap: 200 Mb', 5],
  ['wrap: 2 blocks', 'wrap: two blocks', 5],
  ['reshard_after_forward: 4', 'reshard_after_forward: some', 5],
  ['optimizer: adamw', 'optimiser: adamw', 6],
  ['model: vit_l_32\n', '', 1],
];
for (const [from, to, line] of wrong) {
  const found = await problems(good.replace(from, to));
  assert.ok(found.some((one) => one.startsWith(`${line}: `)), `${to}: ${JSON.stringify(found)}`);
}

// An editor offers the keys and the words, with their help.
const completions = async (text) => {
  const at = text.indexOf('|');
  const cut = document(text.replace('|', ''));
  return (await service.doComplete(cut, cut.positionAt(at), false)).items.map((item) => item.label);
};
const keys = await completions('schema: 1\njob:\n  |\n');
for (const key of ['gpus', 'batch_per_gpu', 'precision', 'recompute']) assert.ok(keys.includes(key), `${key}: ${keys}`);
assert.ok((await completions('schema: 1\nstrategy:\n  kind: |\n')).includes('distributed_optimizer'));

// The other kinds of files: all that are shipped are valid, and a key with a wrong name or unit is marked.
const kinds = {
  gpu: ['platforms/gpus', /^memory: .*$/m, 'memory: 80 Gb'],
  platform: ['platforms', /^gpu: /m, 'gpus: '],
  model: ['models', /^kind: .*$/m, 'kind: decoders'],
  storage: ['platforms/storage', /^read: .*$/m, 'read: fast'],
  dataset: ['models/datasets', /^samples: .*$/m, 'samples: many'],
  prices: ['platforms/prices', /date: .*$/m, 'date: today'],
  calibration: ['calibration/results', /^ {4}transport: .*$|^ {2}- transport: .*$/m, '  - transport: tcp'],
};
for (const [kind, [folder, from, to]] of Object.entries(kinds)) {
  configure(kind, JSON.parse(execFileSync(program, ['schema', kind], { encoding: 'utf8' })));
  const inner = { platform: /platforms\/[^/]+\.yaml$/, model: /models\/(?!datasets\/)/, calibration: /\/calibration\.yaml$/ }[kind] ?? /./;
  const shipped = files(join(root, folder)).filter((path) => inner.test(path.slice(root.length)));
  let marked = 0;
  for (const path of shipped) {
    const text = readFileSync(path, 'utf8');
    assert.deepEqual(await problems(text), [], path);
    if (!from.test(text) || marked > 0) continue;
    marked += 1;
    assert.notDeepEqual(await problems(text.replace(from, to)), [], `${path} with ${to}`);
  }
  assert.ok(shipped.length > 0 && marked === 1, `${kind}: ${shipped.length} files, ${marked} with a mistake`);
}
console.log(`${scenarios} scenarios are valid, ${wrong.length} mistakes are found`);
