// Bundles the viewer into viewer.js and viewer.css: node build.mjs OUTPUT_FOLDER
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
// Pages carry these libraries to whoever gets them, so they carry their licences too.
const licences = ['uplot', 'd3-hierarchy'].map((name) => `${name}:\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8')}`);
await build({
  entryPoints: [join(here, 'src/viewer.ts')],
  outdir: process.argv[2] ?? join(here, 'out'),
  bundle: true,
  minify: true,
  charset: 'ascii',
  format: 'iife',
  // What Debian 12's Chromium and Firefox run, and everything since.
  target: ['es2020', 'chrome100', 'firefox102', 'safari15'],
  banner: { js: `/*!\n${licences.join('\n\n')}*/` },
  legalComments: 'none',
  logLevel: 'warning',
});
