// Debian's Chromium, driven by Playwright, and pages made by the command.

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { report } from './command.mjs';

const kChromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const kFlags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export function makePage(trace) {
  const { status, stderr, page } = report(trace);
  if (status !== 0) throw new Error(stderr);
  return page;
}

/** A browser with a profile of its own that is thrown away. `open` waits until the pictures are there. */
export async function startBrowser() {
  if (!existsSync(kChromium)) throw new Error(`there is no ${kChromium}; install Debian's package chromium, or set CHROMIUM`);
  const browser = await chromium.launch({ executablePath: kChromium, args: kFlags });
  return {
    close: () => browser.close(),
    async open(path, { scripts = true, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', javaScriptEnabled: scripts, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(20000);
      const complaints = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('request', (request) => request.url().startsWith('file:') || complaints.push(`asked for ${request.url()}`));
      page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
      const began = performance.now();
      await page.goto(pathToFileURL(path).href);
      if (scripts) await page.waitForSelector('html[data-ready=yes]', { state: 'attached' });
      return Object.assign(page, { complaints, openedIn: performance.now() - began });
    },
  };
}

/** The rows of a table of a section, as texts. */
export const rowsOf = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
export const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);
/** How many different colours a picture has. */
export const coloursOf = (page, selector) =>
  page.$eval(selector, (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
