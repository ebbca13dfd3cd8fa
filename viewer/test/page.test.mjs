// Pages in a real browser: the pictures are there, clicks show what they should, and every figure is the one that is
// counted again from the trace. ACL_TEST_LONG=1 runs all of it, ACL_TEST_SEED=N repeats a run.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { coloursOf, makePage, rowsOf, startBrowser, textOf } from './browser.mjs';
import { belay, isLong, scratch, seed } from './command.mjs';
import { churn, hostile, random, serving, training } from './made_up.mjs';
import { byHolder, recount } from './recount.mjs';

// Pages are compared with traces; these are in a folder that goes away.
const folder = scratch();
const at = (name) => join(folder, name);
const kRuns = { training, serving, churn };
console.log(`ACL_TEST_SEED=${seed}`);

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser?.close());

function makeRun(name, ...rest) {
  const trace = at(`${name}-${rest.join('-') || 1}.trace`);
  kRuns[name](trace, ...rest);
  return trace;
}

const figure = (text) => Number(/\d+/.exec(text)[0]);
const sumOf = (blocks) => blocks.reduce((sum, block) => sum + block.bytes, 0);
/** Times at which exactly one block came or went: what was in use then is not in doubt. */
function plainTimes({ blocks }) {
  const times = new Map();
  for (const block of blocks) for (const time of [block.born, block.died]) times.set(time, (times.get(time) ?? 0) + 1);
  return (time) => times.get(time) === 1;
}
const storyOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('story').textContent));
const told = (page) => page.$eval('#timeline .told', (element) => ({ bytes: Number(element.dataset.bytes), time: Number(element.dataset.time) }));

async function compareTables(page, truth) {
  const { processes, peaks, unfreed, refusals } = truth;
  const expected = new Map();
  for (const [key, peak] of peaks) {
    const [device, process] = key.split(' ');
    const place = device === '-1' ? 'pinned host memory' : `device ${device}`;
    expected.set(process === undefined ? place : `${place}, process ${processes[process].pid}`, peak.bytes);
  }
  const rows = await rowsOf(page, '#when');
  assert.ok(rows.length >= new Set([...peaks.keys()].map((key) => key.split(' ')[0])).size);
  for (const [place, bytes] of rows) assert.equal(Number(bytes), expected.get(place), `the peak of ${place}`);

  // The table is of groups; several may have the same name.
  const story = await storyOf(page);
  if (story.main >= 0) {
    const { device } = story.series[story.main];
    const alive = truth.aliveAfter(peaks.get(String(device)).order, device);
    const sums = (pairs) => pairs.reduce((all, [key, bytes]) => all.set(key, (all.get(key) ?? 0) + bytes), new Map());
    const expectedOf = sums(alive.map((block) => [`${block.label ?? block.name} in ${block.kind}`, block.bytes]));
    const rows = await rowsOf(page, '#who > .wide');
    const seen = sums(rows.map(([name, , pages, , bytes]) => [`${name} in ${pages.split(',')[0]}`, Number(bytes)]));
    if (rows.length < 25) assert.deepEqual([...seen].sort(), [...expectedOf].sort(), 'who held what at the peak');
    else for (const [key, bytes] of seen) assert.equal(bytes, expectedOf.get(key), key);
  }
  const leaks = await rowsOf(page, '#leaks');
  assert.equal(leaks.reduce((sum, row) => sum + Number(row[4]), 0), unfreed.blocks, 'blocks that were never freed');
  assert.equal(leaks.reduce((sum, row) => sum + Number(row[5]), 0), unfreed.bytes, 'bytes that were never freed');
  const refused = await rowsOf(page, '#refusals');
  assert.equal(refused.reduce((sum, row) => sum + Number(row[2]), 0), Math.min(refusals.length, 200), 'refused calls');
  for (const row of refused) assert.ok(refusals.some((each) => String(each.outcome) === row[5] && (each.text ?? '') === row[7]));
}

for (const [name, ...rest] of [['training', seed], ['serving', seed], ['churn', seed, isLong ? 200000 : 5000]]) {
  test(`the tables of ${name}, and every moment of it that is picked, say what its trace says`, async () => {
    const trace = makeRun(name, ...rest);
    const truth = recount(trace);
    const isPlain = plainTimes(truth);
    const page = await browser.open(makePage(trace));
    await compareTables(page, truth);
    const { moments, series, main } = await storyOf(page);
    const { device } = series[main];
    const step = isLong ? 1 : Math.ceil(moments.times.length / 15);
    await page.keyboard.press('p');
    let compared = 0;
    for (let moment = 0; moment < moments.times.length; moment += step) {
      await page.evaluate((to) => window.belay.pickMoment(to), moment);
      const { bytes, time } = await told(page);
      assert.equal(time, moments.times[moment]);
      if (!isPlain(time)) continue;
      const alive = truth.aliveAt(time, device);
      assert.equal(bytes, sumOf(alive), `in use at ${time} ns`);
      const tiles = await page.$$eval('.tile', (tiles) => tiles.map((tile) => [tile.title.slice(0, tile.title.lastIndexOf(': ')), Number(tile.dataset.bytes)]));
      const seen = new Map();
      for (const [holder, held] of tiles) seen.set(holder, (seen.get(holder) ?? 0) + held);
      assert.deepEqual([...seen].sort(), [...byHolder(alive)].sort(), `who held it at ${time} ns`);
      compared++;
    }
    assert.ok(compared > 5, 'moments to compare');
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  });
}

test('answers stand in the page itself, which needs no scripts for them', async () => {
  const trace = makeRun('training', seed);
  const page = await browser.open(makePage(trace), { scripts: false });
  const { bytes } = recount(trace).peaks.get('0');
  assert.match(await textOf(page, '#short'), new RegExp(`\\b${bytes} bytes`));
  assert.equal(Number((await rowsOf(page, '#when'))[0][1]), bytes);
  await page.context().close();
});

test('the pictures are there, and the peak is picked first', async () => {
  const trace = makeRun('training', seed);
  const page = await browser.open(makePage(trace));
  for (const picture of ['#timeline canvas', '#addresses canvas', '#lanes canvas', '#processes canvas', '#block canvas']) {
    assert.ok((await coloursOf(page, picture)) >= 2, `${picture} is empty`);
  }
  assert.ok((await coloursOf(page, '#timeline canvas')) > 4);
  assert.ok((await page.$$('.tile')).length >= 4);
  assert.equal((await told(page)).bytes, recount(trace).peaks.get('0').bytes);
  // Ranges are named.
  const { ranges, names } = await storyOf(page);
  assert.ok(ranges.name.some((name) => names[name] === 'forward'));
  await page.context().close();
});

test('a click in the timeline picks that moment', async () => {
  const trace = makeRun('training', seed);
  const truth = recount(trace);
  const page = await browser.open(makePage(trace));
  const box = await page.locator('#timeline .u-over').boundingBox();
  const { duration } = await storyOf(page);
  await page.mouse.click(box.x + box.width * 0.05, box.y + box.height / 2);
  const { bytes, time } = await told(page);
  assert.ok(Math.abs(time - duration * 0.05) < duration * 0.02);
  assert.equal(bytes, sumOf(truth.aliveAt(time, 0)));
  await page.context().close();
});

test('a click on a tile tells who it is, and a block of it', async () => {
  const trace = makeRun('training', seed);
  const { blocks } = recount(trace);
  const page = await browser.open(makePage(trace));
  await page.locator('.tile', { hasText: 'weights' }).first().click();
  assert.equal(await textOf(page, '#holders .detail h4'), 'weights');
  assert.match(await textOf(page, '#holders .frames'), /load_weights \(model\.py:41\)/);
  const facts = await page.$eval('#block .detail', ({ dataset }) => ({ ...dataset }));
  const block = blocks.find((each) => `0x${each.address.toString(16)}` === facts.address && each.label === 'weights');
  assert.equal(Number(facts.bytes), block.bytes);
  assert.match(await textOf(page, '#block dl'), new RegExp(`Asked for${block.asked} bytes`));
  await page.context().close();
});

test('a click in the map of addresses picks the block that lies there', async () => {
  const trace = makeRun('training', seed);
  const truth = recount(trace);
  const page = await browser.open(makePage(trace));
  await page.locator('#where').scrollIntoViewIfNeeded();
  const canvas = await page.locator('#addresses canvas').boundingBox();
  // The second row is the first heap of 2 MB pages; its first block lies at its left end.
  await page.mouse.click(canvas.x + 3, canvas.y + 40 + 27);
  const { address } = await page.$eval('#block .detail', ({ dataset }) => ({ ...dataset }));
  const first = Math.min(...truth.aliveAt(truth.peaks.get('0').time, 0).filter((each) => each.kind === '2 MB pages').map((each) => each.address));
  assert.equal(address, `0x${first.toString(16)}`);
  assert.match(await textOf(page, '#addresses h3'), new RegExp(`^${truth.aliveAt(truth.peaks.get('0').time, 0).length} blocks`));
  await page.context().close();
});

test('the search dims what it does not find, and an address leads to its block', async () => {
  const trace = makeRun('training', seed);
  const { blocks } = recount(trace);
  const page = await browser.open(makePage(trace));
  await page.keyboard.press('/');
  await page.keyboard.type('optimizer');
  const faint = await page.$$eval('.tile', (tiles) => tiles.map((tile) => [tile.title.startsWith('optimizer'), tile.classList.contains('faint')]));
  for (const [wanted, isFaint] of faint) assert.equal(isFaint, !wanted);
  const shown = await page.$$eval('#who > .wide tbody tr', (rows) => rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent));
  assert.deepEqual(shown, ['optimizer']);
  const block = blocks[3];
  await page.fill('#search', `0x${(block.address + 5).toString(16)}`);
  const { address } = await page.$eval('#block .detail', ({ dataset }) => ({ ...dataset }));
  assert.equal(address, `0x${block.address.toString(16)}`);
  await page.context().close();
});

test('keys move through the moments', async () => {
  const page = await browser.open(makePage(makeRun('training', seed)));
  const { moments, series, main } = await storyOf(page);
  await page.keyboard.press('p');
  assert.equal((await told(page)).time, series[main].peak.time);
  await page.keyboard.press('ArrowLeft');
  assert.equal((await told(page)).time, moments.times[series[main].peak.moment - 1]);
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal((await told(page)).time, moments.times[Math.min(moments.times.length - 1, series[main].peak.moment + 9)]);
  await page.context().close();
});

test('dark and light, as the system says and as the reader does', async () => {
  const file = makePage(makeRun('training', seed));
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await browser.open(file, { colorScheme: 'light' });
  const dark = await browser.open(file, { colorScheme: 'dark' });
  assert.notEqual(await paper(light), await paper(dark));
  const before = await paper(light);
  await light.click('#theme');
  assert.equal(await paper(light), await paper(dark));
  await light.keyboard.press('t');
  assert.equal(await paper(light), before);
  await light.context().close();
  await dark.context().close();
});

test('those who do not see the pictures are told the same', async () => {
  const page = await browser.open(makePage(makeRun('serving', seed)));
  const unnamed = await page.evaluate(() => {
    const name = (element) => element.getAttribute('aria-label') || element.textContent.trim() || element.title || (element.id && document.querySelector(`label[for="${element.id}"]`)?.textContent);
    return [...document.querySelectorAll('button, select, input, [role=img], nav, a')].filter((element) => !name(element)).map((element) => element.outerHTML.slice(0, 100));
  });
  assert.deepEqual(unnamed, []);
  const sections = await page.$$eval('main > section', (all) => all.map((each) => document.getElementById(each.getAttribute('aria-labelledby'))?.tagName));
  assert.ok(sections.length >= 10 && sections.every((tag) => tag === 'H2'));
  // Each picture has a name that tells its main figures, and the treemap is made of buttons.
  for (const label of await page.$$eval('[role=img]', (all) => all.map((each) => each.getAttribute('aria-label')))) assert.ok(label.length > 20);
  await page.locator('.tile').first().focus();
  await page.keyboard.press('Enter');
  assert.equal(await textOf(page, '#holders .detail h4'), await textOf(page, '.tile b'));
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.bar').isVisible(), false);
  assert.equal(await page.locator('#who > .wide table').isVisible(), true);
  await page.context().close();
});

test('why memory ran out: who held it, and what would have fitted', async () => {
  const trace = makeRun('serving', seed);
  const truth = recount(trace);
  const page = await browser.open(makePage(trace), { scripts: false });
  const refusal = truth.refusals.find((each) => each.outcome === 207001);
  const used = sumOf(truth.aliveAt(refusal.time, 0));
  const total = 3072 * 2 ** 20;
  const text = await textOf(page, '#shortage');
  assert.match(text, new RegExp(`It asked for ${refusal.bytes} bytes`));
  assert.match(text, new RegExp(`${used} bytes .*were in use, which left ${total - used} bytes`));
  const [small, large] = await rowsOf(page, '#shortage .wide');
  // The largest request of each kind: its pages, less the padding. One byte more must not fit.
  const fits = (asked, unit) => used + Math.ceil((Math.ceil(asked / 32) * 32 + 32) / unit) * unit <= total;
  assert.ok(fits(Number(small[1]), 4096) && !fits(Number(small[1]) + 1, 4096));
  if (Number(large[1]) > 0) assert.ok(fits(Number(large[1]), 2 ** 21));
  assert.ok(!fits(Number(large[1]) + 1, 2 ** 21));
  await page.context().close();
});

test('processes side by side', async () => {
  const trace = makeRun('serving', seed);
  const truth = recount(trace);
  const page = await browser.open(makePage(trace));
  const rows = await rowsOf(page, '#side');
  assert.deepEqual(rows.map((row) => figure(row[6].split(':')[1])), [truth.peaks.get('0 0').bytes, truth.peaks.get('0 1').bytes]);
  await page.locator('#side canvas').click({ position: { x: 400, y: 30 } });
  const chosen = await page.$eval('#which', (select) => select.selectedOptions[0].textContent);
  assert.match(chosen, /process 1000/);
  assert.equal((await told(page)).bytes, sumOf(truth.aliveAt((await told(page)).time, 0).filter((block) => block.process === 0)));
  await page.context().close();
});

// What the recorder writes, of programs as people have them: some fail, and some are killed.
const examples = process.env.EXAMPLES ? readdirSync(process.env.EXAMPLES).filter((name) => name.startsWith('example_')).sort() : [];
const dice = random(seed);
const chosen = isLong ? examples : examples.filter(() => dice() < 3 / examples.length);
for (const name of chosen) {
  test(`the page of ${name} says what its trace says`, async () => {
    const trace = at(`${name}.trace`);
    const ran = spawnSync(belay, ['run', '--quiet', '--pin', 'best-effort', '--trace', trace, '--', join(process.env.EXAMPLES, name)], { encoding: 'utf8', cwd: folder, timeout: 120000 });
    assert.ok(existsSync(trace), ran.stderr);
    const page = await browser.open(makePage(trace));
    const truth = recount(trace);
    assert.ok(truth.records.length > 0);
    await compareTables(page, truth);
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  });
}
if (process.env.EXAMPLES && examples.length === 0) throw new Error(`there are no examples in ${process.env.EXAMPLES}`);

test('names that are markup stay names, and nothing is fetched', async () => {
  const trace = at('hostile.trace');
  hostile(trace);
  const page = await browser.open(makePage(trace));
  assert.equal(await page.title(), 'hostile.trace: where memory went');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert.match(await textOf(page, '#refusals'), /<\/script><script>/);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('a trace that is cut short gives a page that says so', async () => {
  const trace = makeRun('serving', seed);
  truncateSync(trace, Math.floor(statSync(trace).size * 0.6));
  const page = await browser.open(makePage(trace));
  assert.match(await textOf(page, 'main'), /cut off|damaged|no allocation/);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

for (const events of isLong ? [10000, 1000000, 10000000] : [10000]) {
  test(`a trace of ${events} events opens soon, and its page is not large`, async (context) => {
    const trace = makeRun('churn', seed, events);
    const began = performance.now();
    const file = makePage(trace);
    const made = performance.now() - began;
    const page = await browser.open(file);
    const clicked = performance.now();
    for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowLeft');
    const step = (performance.now() - clicked) / 10;
    context.diagnostic(`${events} events: trace ${statSync(trace).size} bytes, made in ${Math.round(made)} ms; page ${statSync(file).size} bytes, opened in ${Math.round(page.openedIn)} ms, ${Math.round(step)} ms for each step`);
    assert.ok(page.openedIn < 5000, `it took ${page.openedIn} ms`);
    assert.ok(statSync(file).size < 6e6, `it has ${statSync(file).size} bytes`);
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  });
}
