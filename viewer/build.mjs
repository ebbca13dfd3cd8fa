// Bundles the viewer into viewer.js and viewer.css: node build.mjs OUTPUT_FOLDER
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
await build({
  entryPoints: [join(here, 'src/viewer.ts')],
  outdir: process.argv[2] ?? join(here, 'out'),
  bundle: true,
  minify: true,
  charset: 'ascii',
  format: 'iife',
  // What Debian 12's Chromium and Firefox run, and everything since.
  target: ['es2020', 'chrome100', 'firefox102', 'safari15'],
  legalComments: 'inline',
  logLevel: 'warning',
});
