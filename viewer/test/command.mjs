// The command as tests call it, and what they have in common.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const belay = process.env.BELAY ?? join(root, 'build/release/bin/belay');
export const isLong = (process.env.ACL_TEST_LONG ?? '') !== '';
export const seed = Number(process.env.ACL_TEST_SEED ?? 0) || Math.floor(Math.random() * 1e6) + 1;

export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'belay-report-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command on a trace; returns what it said. */
export function report(trace) {
  const { status, stdout, stderr, signal } = spawnSync(belay, ['report', trace], { encoding: 'utf8' });
  return { status, signal, stdout, stderr, page: `${trace}.html` };
}
