// SPDX-License-Identifier: Apache-2.0
// The engine for pages, gradway.wasm, as the repository keeps it: web/engine.br.
//
//   node engine.mjs check              exit status 1 if web/engine.br was built from other sources than those of this checkout
//   node engine.mjs keep BUILD         writes web/engine.br from BUILD, the folder of the preset wasm
//   node engine.mjs repeats BUILD      exit status 1 if a build of the same sources by the same compiler gave other bytes
//   node engine.mjs pack OUT [WASM]    writes OUT for pages: the engine by gzip in base64. WASM, built here, replaces an engine.br of other
//                                      sources; if there is none, OUT begins with the date of engine.br, and pages say that it is older
//
// engine.br is compressed by Brotli: a line of JSON with the compiler, the date of the commit, and the names and the digest of all sources;
// then gradway.wasm.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join(root, 'web/engine.br');
const run = (...words) => execFileSync(words[0], words.slice(1), { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });

function kept() {
  if (!existsSync(file)) return undefined;
  const bytes = brotliDecompressSync(readFileSync(file));
  const end = bytes.indexOf('\n');
  return { about: JSON.parse(bytes.subarray(0, end)), wasm: bytes.subarray(end + 1) };
}

/** Of names and contents; a file that is gone counts, too. */
function digestOf(sources) {
  const digest = createHash('sha256');
  for (const name of sources) {
    const path = join(root, name);
    digest.update(`${name}\0`).update(existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest() : 'none');
  }
  return digest.digest('hex');
}

const isCurrent = (engine) => engine !== undefined && digestOf(engine.about.sources) === engine.about.digest;

/** What the sources that the build read are called from the root: what ninja knows of its objects, tables, and how they are built. */
function sourcesOf(build) {
  const read = run('ninja', '-C', build, '-t', 'deps').split('\n').filter((line) => line.startsWith('    '));
  const inside = read.map((line) => relative(root, resolve(build, line.trim()))).filter((name) => !name.startsWith('..') && !name.startsWith('build/'));
  const rest = run('git', 'ls-files', 'CMakeLists.txt', 'CMakePresets.json', 'wasm', 'cmake/compile_together.cmake', 'cmake/tables.cmake', 'sim/*.txt').split('\n');
  return [...new Set([...inside, ...rest.filter((name) => name && !/^sim\/.*CMakeLists/.test(name))])].sort();
}

function built(build) {
  const sources = sourcesOf(build);
  const compiler = run('clang++-19', '--version').split('\n')[0];
  return { about: { compiler, date: run('git', 'log', '-1', '--format=%cs').trim(), digest: digestOf(sources), sources }, wasm: readFileSync(join(build, 'gradway.wasm')) };
}

function keep(build) {
  const { about, wasm } = built(build);
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), wasm]);
  const packed = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  writeFileSync(file, packed);
  console.log(`web/engine.br: ${packed.length} bytes of ${bytes.length}, from ${about.sources.length} sources`);
}

function repeats(build) {
  const engine = kept();
  if (!isCurrent(engine)) return console.log('web/engine.br was built from other sources, so that its bytes were not compared');
  const { about, wasm } = built(build);
  if (about.compiler !== engine.about.compiler) return console.log(`web/engine.br was built by another compiler (${engine.about.compiler}), so that its bytes were not compared`);
  if (!wasm.equals(engine.wasm)) throw new Error('gradway.wasm of the same sources and compiler has other bytes than web/engine.br');
  console.log('web/engine.br has the bytes of this build');
}

function pack(out, wasm) {
  const engine = kept();
  const isSame = isCurrent(engine);
  const bytes = !isSame && wasm && existsSync(wasm) ? readFileSync(wasm) : engine?.wasm;
  const date = !isSame && bytes === engine?.wasm ? `${engine?.about.date}\n` : '';
  const text = bytes ? date + gzipSync(bytes, { level: 9 }).toString('base64') : '';
  if (!existsSync(out) || readFileSync(out, 'utf8') !== text) writeFileSync(out, text); // what includes it is built again only if it changes
  console.log(`${out}: ${text.length} characters${date && `, of the older sources of ${date.trim()}`}`);
}

function check() {
  if (isCurrent(kept())) return;
  console.error('web/engine.br was built from other sources: scripts/engine builds it');
  process.exitCode = 1;
}

const [command, ...words] = process.argv.slice(2);
const commands = { check, keep, repeats, pack };
if (!Object.hasOwn(commands, command ?? '') || words.length < { check: 0, keep: 1, repeats: 1, pack: 1 }[command]) {
  console.error('engine.mjs: error: usage: node engine.mjs check | keep BUILD | repeats BUILD | pack OUT [WASM]');
  process.exit(2);
}
commands[command](...words.map((word) => resolve(word)));
