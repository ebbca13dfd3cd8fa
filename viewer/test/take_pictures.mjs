// Pictures of pages for the documentation: node take_pictures.mjs FOLDER_OF_PAGES FOLDER_OF_PICTURES

import { join } from 'node:path';
import { startBrowser } from './browser.mjs';

const [pages, pictures] = process.argv.slice(2);
const browser = await startBrowser();
const kWidth = 1080;

async function take(name, file, colorScheme, act, from, to) {
  const page = await browser.open(join(pages, file), { viewport: { width: kWidth, height: 900 }, colorScheme });
  await act?.(page);
  await page.addStyleTag({ content: '.bar { position: static !important }' });
  await page.evaluate('window.scrollTo(0, 0)');
  const top = await page.locator(from).boundingBox();
  const end = await page.locator(to).boundingBox();
  const clip = { x: 0, y: Math.max(0, top.y - 14), width: kWidth, height: end.y + end.height - top.y + 28 };
  await page.screenshot({ path: join(pictures, name), clip, fullPage: true });
  await page.context().close();
}

await take('why.png', 'step.trace.html', 'light', null, 'h1', '#shortage');
await take('when-and-who.png', 'fixed.trace.html', 'light', (page) => page.locator('.tile').first().click(), '#when', '#holders .detail');
await take('where.png', 'step.trace.html', 'dark', (page) => page.locator('.tile').first().click(), '#where', '#life');
await take('streams.png', 'fixed.trace.html', 'light', null, '#streams', '#lanes .told');
await browser.close();
