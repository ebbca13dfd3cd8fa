// What is no trace, or cut short, or damaged: the command says so, or tells what could be read. It never crashes.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLong, report, scratch, seed } from './command.mjs';
import { random, serving, training } from './made_up.mjs';

const folder = scratch();
const at = (name) => join(folder, name);
const dice = random(seed);
console.log(`ACL_TEST_SEED=${seed}`);

test('what is no trace is refused in words', () => {
  writeFileSync(at('foreign.trace'), 'hello');
  const foreign = report(at('foreign.trace'));
  assert.equal(foreign.status, 2);
  assert.match(foreign.stderr, /is no trace of belay/);
  writeFileSync(at('empty.trace'), '');
  assert.equal(report(at('empty.trace')).status, 2);
  const missing = report(at('missing.trace'));
  assert.equal(missing.status, 2);
  assert.match(missing.stderr, /missing\.trace/);
});

for (const [name, make] of [['serving', serving], ['training', training]]) {
  test(`${name}, damaged or cut short at random`, () => {
    make(at('whole.trace'), seed);
    const whole = readFileSync(at('whole.trace'));
    for (let i = 0; i < (isLong ? 300 : 10); i++) {
      let damaged = Buffer.from(whole);
      if (i % 3 === 0) damaged = damaged.subarray(0, dice.below(whole.length));
      // Some bytes anywhere, or many close together: the head of a chunk, a definition, a run of records.
      const from = 128 + dice.below(whole.length - 128);
      const width = i % 3 === 1 ? whole.length : 64;
      for (let n = i % 3 === 0 ? 0 : dice.between(1, 100); n > 0; n--) damaged[Math.min(whole.length - 1, from + dice.below(width))] = dice.below(256);
      writeFileSync(at('damaged.trace'), damaged);
      const { status, signal, stderr, page } = report(at('damaged.trace'));
      assert.equal(signal, null, `${signal}: ${stderr}`);
      assert.ok(status === 0 || (status === 2 && stderr.length > 20), `exit code ${status}: ${stderr}`);
      if (status !== 0) continue;
      const text = readFileSync(page, 'utf8');
      const story = /<script type="application\/json" id="story">(.*?)<\/script>/s.exec(text);
      if (story) JSON.parse(story[1]);
      assert.ok(text.length < 6e6);
      assert.ok(text.endsWith('</html>\n'));
    }
  });
}
