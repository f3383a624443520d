// SPDX-License-Identifier: Apache-2.0
// Packs gradway.wasm for the page:  node pack.mjs GRADWAY_WASM OUT
// OUT has it compressed by gzip, in base64.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [wasm, out] = process.argv.slice(2);
const text = gzipSync(readFileSync(wasm), { level: 9 }).toString('base64');
writeFileSync(out, text);
console.log(`${out}: ${text.length} characters`);
