import { describe, expect, it } from '@jest/globals';
import { JsonPicker, type Wanted } from '../../../lambda/gateway/meter/json-picker.ts';

const pick = (wanted: Wanted, pieces: readonly string[], limit = 100) => {
  const told: string[] = [];
  const picker = new JsonPicker(
    wanted,
    {
      value: (name, json) => told.push(`${name}=${json}`),
      tooLong: (name) => told.push(`${name} too long`),
      documentEnd: () => told.push('end'),
    },
    limit,
  );
  for (const piece of pieces) picker.write(Buffer.from(piece));
  return told;
};

describe('picking', () => {
  it('takes values by their path alone', () => {
    const json = '{"a":{"x":1},"x":{"b":"two","x":0},"b":3}';
    expect(pick({ a: { x: 'ax' }, x: { b: 'xb' } }, [json])).toEqual(['ax=1', 'xb="two"', 'end']);
  });

  it('takes every kind of value whole', () => {
    const json = '{"s":"a\\"}","n": -1.5e3 ,"t":true,"o":{"x":[1,"]"]},"l":[{},2]}';
    const names = Object.fromEntries(['s', 'n', 't', 'o', 'l'].map((name) => [name, name]));
    expect(pick(names, [json]).map((told) => told.trim())).toEqual([
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
    expect(pick({ c: text }, ['{"c":"four"}'])).toEqual(['+text=4', 'end']);
    expect(pick({ c: text }, ['{"c":[{"t":"ab"},{"t":"é"}]}'])).toEqual(['+text=2', '+text=2', 'end']);
  });

  it('takes documents one after the other, and a top-level array as many', () => {
    expect(pick({ a: 'a' }, ['{"a":1}\n{"a":2}'])).toEqual(['a=1', 'end', 'a=2', 'end']);
    expect(pick({ a: 'a' }, ['[{"a":1},{"a":2}]'])).toEqual(['a=1', 'end', 'a=2', 'end']);
  });

  it('leaves out what is too long, and goes on', () => {
    expect(pick({ a: 'a', b: 'b' }, [`{"a":"${'x'.repeat(200)}","b":1}`])).toEqual(['a too long', 'b=1', 'end']);
  });

  it('a name of the JSON is never taken for a word of the tree', () => {
    expect(pick({ d: { '': '#self', '+': 'text', '*': 'each' } }, ['{"d":{"":1,"+":"x","*":2}}'])).toEqual([
      '#self=',
      'end',
    ]);
    expect(pick({ a: 'a' }, ['{"__proto__":{"a":1},"constructor":2,"toString":3}'])).toEqual(['end']);
  });

  it('names cut anywhere, and names too long to be wanted', () => {
    const json = `{"${'k'.repeat(100)}":1,"name":2}`;
    for (let cut = 1; cut < json.length; cut++)
      expect(pick({ name: 'name' }, [json.slice(0, cut), json.slice(cut)])).toEqual(['name=2', 'end']);
  });

  it('survives nesting without end', () => {
    expect(pick({ a: 'a' }, ['{"x":'.repeat(5_000), '['.repeat(100_000)])).toEqual([]);
  });
});
