import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseSpendCounterSk, spendCounterKey, timeRange } from '../../../lambda/data/table/keys.ts';
import { MAX_MODEL_CHARACTERS, MAX_TAG_CHARACTERS } from '../../../lambda/domain/usage/limits.ts';

const text = fc.option(fc.string({ unit: fc.constantFrom('#', '%', '2', '3', '5', '=', 'a', 'é', '€', '😀') }));
const dimensions = fc.record({
  provider: fc.constantFrom('openai', 'xai'),
  model: text,
  tag: text,
  keyId: text,
  providerKey: text,
});

describe('spend counter keys', () => {
  it('hold the time and dimensions of their counter, whatever clients send', () => {
    fc.assert(
      fc.property(dimensions, (given) => {
        const { sk } = spendCounterKey('svc_1', 'HOUR', '2026-11-20T16', given);
        expect(parseSpendCounterSk(sk)).toEqual({ time: '2026-11-20T16', dimensions: given });
      }),
    );
  });

  it.each([
    ['%23', '=%2523'],
    ['#', '=%23'],
    ['%', '=%25'],
    ['%25', '=%2525'],
    ['a#b%c', '=a%23b%25c'],
    ['', '='],
    [null, ''],
  ])('store the tag %j as %j, and read it back', (tag, stored) => {
    const given = { provider: 'openai', model: 'm', tag, keyId: null, providerKey: null };
    const { sk } = spendCounterKey('svc_1', 'DAY', '2026-11-20', given);
    expect(sk).toBe(`DAY#2026-11-20#=openai#=m#${stored}##`);
    expect(parseSpendCounterSk(sk).dimensions).toEqual(given);
  });

  it('fit a sort key of 1,024 bytes at their longest', () => {
    for (const character of ['#', '€', '😀']) {
      const { sk } = spendCounterKey('svc_1', 'HOUR', '2026-11-20T16', {
        provider: 'openrouter',
        model: character.repeat(MAX_MODEL_CHARACTERS / character.length),
        tag: character.repeat(MAX_TAG_CHARACTERS),
        keyId: '0190b3b1-c0de-7000-8000-000000000000',
        providerKey: 'x'.repeat(64),
      });
      expect(Buffer.byteLength(sk)).toBeLessThan(1_024);
    }
  });

  it('are found by ranges that include their time, and by no other', () => {
    const { sk } = spendCounterKey('svc_1', 'DAY', '2026-11-20', {
      provider: 'openai',
      model: '\u{10ffff}',
      tag: null,
      keyId: null,
      providerKey: null,
    });
    const isIn = (from: string, to: string) => {
      const range = timeRange('DAY', from, to);
      return sk >= range.from && sk <= range.to;
    };
    expect(isIn('2026-11-20', '2026-11-20')).toBe(true);
    expect(isIn('2026-11-01', '2026-11-20')).toBe(true);
    expect(isIn('2026-11-21', '2026-12-31')).toBe(false);
    expect(isIn('2026-01-01', '2026-11-19')).toBe(false);
  });
});
