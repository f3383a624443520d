// SPDX-License-Identifier: Apache-2.0
// Bundles the report page into one file:  node build.mjs OUT.html
// The output depends on the sources only, not on machine or date.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const places = ['<script id="data" type="application/json"></script>', '<script id="engine" type="text/plain"></script>', '<script id="files" type="text/plain"></script>'];

/** Escapes inlined text so that it cannot end its element. */
const script = (text) => text.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');

async function bundle(entry, define = {}) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

/** Notices that the licences of the bundled parts require. */
function notices() {
  const read = (path) => readFileSync(join(here, 'node_modules', path), 'utf8').trim();
  const version = (name) => JSON.parse(read(`${name}/package.json`)).version;
  const part = (name, licence, ...texts) => [`${name} ${version(name)}, ${licence}`, ...texts].join('\n\n');
  return [
    part('echarts', 'Apache-2.0', read('echarts/NOTICE'), read('echarts/LICENSE'), read('echarts/licenses/LICENSE-d3')),
    part('zrender', 'BSD-3-Clause', read('zrender/LICENSE')),
    part('tslib', '0BSD', read('tslib/LICENSE.txt')),
  ].join('\n\n\n');
}

async function main(out) {
  const worker = await bundle('what_if/worker.ts');
  const text = script(await bundle('main.ts', { WORKER: JSON.stringify(worker) }));
  const parts = {
    STYLE: await bundle('page.css'),
    SCRIPT: text,
    DIGEST: createHash('sha256').update(text).digest('base64'), // the only script that the page's policy allows
    NOTICES: notices().replace(/--+>?/g, '- -'),
  };
  // A function as the replacement: '$&' in a script is text.
  const page = readFileSync(join(here, 'src', 'template.html'), 'utf8').replace(
    /@(STYLE|SCRIPT|DIGEST|NOTICES)@/g,
    (_, name) => parts[name],
  );
  for (const place of places) if (page.split(place).length !== 2) throw new Error(`the page must have ${place} once`);
  writeFileSync(out, page);
  console.log(`${out}: ${page.length} characters`);
}

if (process.argv.length !== 3) {
  console.error('build.mjs: error: usage: node build.mjs OUT.html');
  process.exit(2);
}
await main(process.argv[2]);
