// SPDX-License-Identifier: Apache-2.0
// web/engine.mjs: which engine a build takes, and when it is older than the sources, in a checkout with one source.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const work = mkdtempSync(join(tmpdir(), 'gradway-'));
process.on('exit', () => rmSync(work, { recursive: true }));
const path = (name) => join(work, name);
const engine = (...words) => spawnSync(process.execPath, [path('web/engine.mjs'), ...words], { encoding: 'utf8' });
const sha256 = (...parts) => parts.reduce((digest, part) => digest.update(part), createHash('sha256')).digest();

mkdirSync(path('web'));
copyFileSync(join(root, 'web/engine.mjs'), path('web/engine.mjs'));
writeFileSync(path('a.cpp'), 'int a;\n');
const about = { compiler: 'clang', date: '2026-01-02', digest: sha256('a.cpp\0', sha256('int a;\n')).toString('hex'), sources: ['a.cpp'] };
writeFileSync(path('web/engine.br'), brotliCompressSync(Buffer.from(`${JSON.stringify(about)}\nkept`)));
writeFileSync(path('built.wasm'), 'built');

/** What a page would have: the date of an older engine, and the engine. */
function packed(...wasm) {
  const { status, stderr } = engine('pack', path('engine.txt'), ...wasm);
  assert.equal(status, 0, stderr);
  const [code, date = ''] = readFileSync(path('engine.txt'), 'utf8').split('\n').reverse();
  return [date, gunzipSync(Buffer.from(code, 'base64')).toString()];
}

assert.equal(engine('check').status, 0);
assert.deepEqual(packed(), ['', 'kept']);
assert.deepEqual(packed(path('built.wasm')), ['', 'kept'], 'of the same sources it is what a build gives');

writeFileSync(path('a.cpp'), 'int b;\n');
const { status, stderr } = engine('check');
assert.deepEqual([status, stderr], [1, 'web/engine.br was built from other sources: scripts/engine builds it\n']);
assert.deepEqual(packed(), ['2026-01-02', 'kept']);
assert.deepEqual(packed(path('missing.wasm')), ['2026-01-02', 'kept']);
assert.deepEqual(packed(path('built.wasm')), ['', 'built']);

rmSync(path('a.cpp'));
assert.equal(engine('check').status, 1, 'a source is gone');
assert.equal(engine().status, 2);
assert.equal(engine('pack').status, 2);
console.log('engine.mjs: 10 passed');
