import { describe, expect, it } from '@jest/globals';
import { JsonPicker, type Wanted } from '../../../lambda/gateway/meter/json-picker.ts';

const pickLatin1 = (wanted: Wanted, pieces: readonly string[], limit: number) => pick(wanted, pieces, limit, 'latin1');

const pick = (wanted: Wanted, pieces: readonly string[], limit = 100, encoding: BufferEncoding = 'utf8') => {
  const picked: string[] = [];
  const picker = new JsonPicker(
    wanted,
    {
      value: (name, json) => picked.push(`${name}=${json}`),
      measured: (name, bytes, head) => picked.push(`${name}: ${bytes} ${head.toString('utf8', 0, 10)}`),
      tooLong: (name) => picked.push(`${name} too long`),
      documentEnd: () => picked.push('end'),
    },
    limit,
  );
  for (const piece of pieces) picker.write(Buffer.from(piece, encoding));
  return picked;
};

describe('picking', () => {
  it('takes values by their path alone', () => {
    const json = '{"a":{"x":1},"x":{"b":"two","x":0},"b":3}';
    expect(pick({ a: { x: 'ax' }, x: { b: 'xb' } }, [json])).toEqual(['ax=1', 'xb="two"', 'end']);
  });

  it('picks every kind of value whole', () => {
    const json = '{"s":"a\\"}","n": -1.5e3 ,"t":true,"o":{"x":[1,"]"]},"l":[{},2]}';
    const names = Object.fromEntries(['s', 'n', 't', 'o', 'l'].map((name) => [name, name]));
    expect(pick(names, [json]).map((value) => value.trim())).toEqual([
      's="a\\"}"',
      'n=-1.5e3',
      't=true',
      'o={"x":[1,"]"]}',
      'l=[{},2]',
      'end',
    ]);
  });

  it('looks into the elements of arrays, and counts them without keeping them', () => {
    expect(pick({ d: { '*': { k: 'k' } } }, ['{"d":[{"k":1},7,{"k":2}]}'])).toEqual(['k=1', 'k=2', 'end']);
    expect(pick({ d: { '*': '#each' } }, ['{"d":[{"k":1},{"k":2}]}'])).toEqual(['#each=', '#each=', 'end']);
    expect(pick({ d: { '*': { '': '#each', k: 'k' } } }, ['{"d":[{"k":1}]}'])).toEqual(['#each=', 'k=1', 'end']);
  });

  it('measures a string where it may also be parts', () => {
    const text: Wanted = { '+': 'text', '*': { t: { '+': 'text' } } };
    expect(pick({ c: text }, ['{"c":"four"}'])).toEqual(['text: 4 four', 'end']);
    expect(pick({ c: text }, ['{"c":[{"t":"ab"},{"t":"é"}]}'])).toEqual(['text: 2 ab', 'text: 2 é', 'end']);
  });

  it('takes documents one after the other, and a top-level array as many', () => {
    expect(pick({ a: 'a' }, ['{"a":1}\n{"a":2}'])).toEqual(['a=1', 'end', 'a=2', 'end']);
    expect(pick({ a: 'a' }, ['[{"a":1},{"a":2}]'])).toEqual(['a=1', 'end', 'a=2', 'end']);
  });

  it('drops a value that is too long, and goes on', () => {
    expect(pick({ a: 'a', b: 'b' }, [`{"a":"${'x'.repeat(200)}","b":1}`])).toEqual(['a too long', 'b=1', 'end']);
  });

  it('a member of the JSON is never mistaken for a directive of the tree', () => {
    expect(pick({ d: { '': '#self', '+': 'text', '*': 'each' } }, ['{"d":{"":1,"+":"x","*":2}}'])).toEqual([
      '#self=',
      'end',
    ]);
    expect(pick({ a: 'a' }, ['{"__proto__":{"a":1},"constructor":2,"toString":3}'])).toEqual(['end']);
  });

  it('finds a name that is written with escapes, wherever it is cut', () => {
    const name = 'max_completion_tokens';
    const escaped = [...name].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');
    for (const written of [escaped, 'max_completion_token\\u0073'])
      for (const json of [`{"${written}":2}`])
        for (let cut = 1; cut < json.length; cut++)
          expect(pick({ [name]: 'tokens' }, [json.slice(0, cut), json.slice(cut)])).toEqual(['tokens=2', 'end']);
    expect(pick({ a: 'a' }, ['{"\\u0":1,"\\x61":2,"\\\\a":3,"\\u0061\\u0022":4,"a":5}'])).toEqual(['a=5', 'end']);
  });

  it('names cut anywhere, and names too long to be wanted', () => {
    const json = `{"${'k'.repeat(300)}":1,"name":2}`;
    for (let cut = 1; cut < json.length; cut++)
      expect(pick({ name: 'name' }, [json.slice(0, cut), json.slice(cut)])).toEqual(['name=2', 'end']);
  });

  it('keeps the beginning of a name without end, however it is cut', () => {
    const picker = new JsonPicker({ a: 'a' }, { value: () => {}, tooLong: () => {}, documentEnd: () => {} }, 100);
    picker.write(Buffer.from('{"'));
    const piece = Buffer.from('a');
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 2_000_000; n++) picker.write(piece);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 2 ** 20);
  });

  it('survives nesting without end', () => {
    expect(pick({ a: 'a' }, ['{"x":'.repeat(5_000), '['.repeat(100_000)])).toEqual([]);
  });

  it('a # leaf reports objects and arrays, and no other value', () => {
    expect(pick({ e: '#e' }, ['{"e":{}}{"e":[]}{"e":"x"}{"e":7}{"e":null}'])).toEqual([
      '#e=',
      'end',
      '#e=',
      ...Array(4).fill('end'),
    ]);
  });

  it('values up to the limit are kept, longer ones are not, wherever they are cut', () => {
    const wanted: Wanted = { a: 'a', o: 'o', n: 'n', b: 'b' };
    const json = (size: number) =>
      `{"a":"${'x'.repeat(size - 2)}","o":{"k":"${'x'.repeat(size - 8)}"},"n":${'1'.repeat(size)},"b":1}`;
    const [fits, tooLong] = [json(20), json(21)];
    const kept = [`a="${'x'.repeat(18)}"`, `o={"k":"${'x'.repeat(12)}"}`, `n=${'1'.repeat(20)}`, 'b=1', 'end'];
    for (let cut = 1; cut < fits.length; cut++)
      expect(pick(wanted, [fits.slice(0, cut), fits.slice(cut)], 20)).toEqual(kept);
    for (let cut = 1; cut < tooLong.length; cut++)
      expect(pick(wanted, [tooLong.slice(0, cut), tooLong.slice(cut)], 20)).toEqual([
        'a too long',
        'o too long',
        'n too long',
        'b=1',
        'end',
      ]);
    expect(pick(wanted, [...tooLong], 20)).toEqual(['a too long', 'o too long', 'n too long', 'b=1', 'end']);
  });

  it('a measured string has the same length wherever it is cut, and no limit', () => {
    const json = `{"c":"${'é"'.replace('"', '\\"').repeat(100)}","a":1}`;
    for (const size of [1, 7, json.length]) {
      const bytes = Buffer.from(json);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size).toString('latin1'),
      );
      expect(pickLatin1({ c: { '+': 'text' }, a: 'a' }, pieces, 10)).toEqual(['text: 400 é\\"é\\"é', 'a=1', 'end']);
    }
  });

  it('an object or array has the length of its JSON without white space, wherever it is cut', () => {
    const wanted: Wanted = { a: { '{}': 'a', '*': { t: 't' } }, b: { '{}': 'b' }, c: { '{}': 'c' }, d: 'd' };
    const compact = { a: [{ t: 1, x: 'a b' }, { y: [1, 2] }], b: { x: { y: 'with  spaces' } }, c: 7, d: 1 };
    const json = JSON.stringify(compact, null, 3);
    for (const size of [1, 5, json.length])
      expect(pick(wanted, json.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((value) => value.trim())).toEqual([
        't=1',
        `a: ${JSON.stringify(compact.a).length}`,
        `b: ${JSON.stringify(compact.b).length}`,
        'd=1',
        'end',
      ]);
  });

  it('looks 16 levels deep and no deeper, and reads on behind', () => {
    const nest = (levels: number): [Wanted, string] =>
      Array.from({ length: levels }).reduce<[Wanted, string]>(
        ([wanted, json]) => [{ x: wanted }, `{"x":${json}}`],
        [{ a: 'a' }, '{"a":1}'],
      );
    const [wanted, json] = nest(15);
    expect(pick(wanted, [json])).toEqual(['a=1', 'end']);
    const [deepWanted, deepJson] = nest(16);
    expect(pick({ ...deepWanted, b: 'b' }, [`${deepJson.slice(0, -1)},"b":2}`])).toEqual(['b=2', 'end']);
  });

  it('passes over what is not wanted, however it is nested or quoted', () => {
    const other = '{"q":["]","}\\"",{"a":1,"z":[[[]]]},"\\\\"],"a":5}';
    for (const json of [`{"o":${other},"a":2}`, `{"o":[${other},${other}],"a":2}`])
      for (let cut = 1; cut < json.length; cut++)
        expect(pick({ a: 'a' }, [json.slice(0, cut), json.slice(cut)])).toEqual(['a=2', 'end']);
  });

  it('names are found at the longest length that matters, and not by their beginning', () => {
    const name = 'n'.repeat(192);
    expect(pick({ [name]: 'v' }, [`{"${name}":1}`])).toEqual(['v=1', 'end']);
    expect(pick({ [name]: 'v' }, [`{"${name}n":1,"${name.slice(1)}":2}`])).toEqual(['end']);
  });

  it('says whether a document is open', () => {
    const picker = new JsonPicker({}, { value: () => {}, tooLong: () => {}, documentEnd: () => {} }, 10);
    const isOpenAfter = (text: string): boolean => {
      picker.write(Buffer.from(text));
      return picker.insideDocument;
    };
    const steps = ['', '{', '"a"', ':{"b":[', ']}', '}', '\n', '"tex', 't"', '[{', '}', ']'];
    expect(steps.map(isOpenAfter)).toEqual([
      ...[false, true, true, true, true, false, false, true, false, true, true, false],
    ]);
  });

  it('goes on after brackets that close nothing', () => {
    expect(pick({ a: 'a' }, [']}, :{"a":1}}'])).toEqual(['a=1', 'end']);
  });

  it('a string, a number or an array at the top is no document, an array of objects is several', () => {
    expect(pick({ a: 'a' }, ['"a" 7 [1,"x"] {"a":3}'])).toEqual(['a=3', 'end']);
    expect(pick({ a: 'a' }, ['[[{"a":1}],{"a":2}]'])).toEqual(['a=2', 'end']);
  });
});
