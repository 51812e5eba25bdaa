import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attoUsdPerUnit, costNanoUsd, nanoUsdPerUnit, scaled, times, usdToNanoUsd } from '../../lambda/domain/money.ts';

describe('scaled', () => {
  it('takes a number by its shortest decimal form, not by its binary value', () => {
    expect(scaled(0.1, 18)).toBe(100_000_000_000_000_000n);
    expect(scaled(1.8e-7, 9)).toBe(180n);
    expect(scaled(1e21, 0)).toBe(10n ** 21n);
    expect(scaled(2 ** 60, 0)).toBe(1_152_921_504_606_847_000n);
    expect(scaled(Number.MAX_SAFE_INTEGER, 2)).toBe(900_719_925_474_099_100n);
  });

  it('rounds half up what is finer', () => {
    expect(scaled(0.25, 1)).toBe(3n);
    expect(scaled(0.24, 1)).toBe(2n);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, -0])('is nothing for %p', (value) => {
    expect(scaled(value, 9)).toBe(0n);
  });
});

describe('costNanoUsd', () => {
  it('has no drift where floating point has: a million tokens of 0.1 + 0.2 USD', () => {
    const items = [0.1, 0.2].map((usd) => ({ quantity: 1_000_000, rate: attoUsdPerUnit(usd, 1e6) }));
    expect(costNanoUsd(items)).toBe(300_000_000);
  });

  it('rounds once, at the end, and half up', () => {
    const half = attoUsdPerUnit(0.0005, 1e6);
    expect(nanoUsdPerUnit(half)).toBe(0.5);
    expect(costNanoUsd([{ quantity: 1, rate: half }])).toBe(1);
    expect(
      costNanoUsd([
        { quantity: 1, rate: half },
        { quantity: 1, rate: half },
      ]),
    ).toBe(1);
    expect(costNanoUsd([{ quantity: 3, rate: half }])).toBe(2);
  });

  it('takes fractions of a unit, such as seconds', () => {
    expect(costNanoUsd([{ quantity: 2.5, rate: attoUsdPerUnit(0.36, 3600) }])).toBe(250_000);
  });

  it('stays a safe integer', () => {
    expect(costNanoUsd([{ quantity: 1e10, rate: attoUsdPerUnit(1e6) }])).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('is the same for a whole and for its parts, to the nano-USD', () => {
    const rates = fc.integer({ min: 1, max: 1_000_000 }).map((microUsd) => attoUsdPerUnit(microUsd / 1_000, 1e6));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(1_000_000), rates)), (parts) => {
        const whole = parts.map(([a, b, rate]) => ({ quantity: a + b, rate }));
        const split = parts.flatMap(([a, b, rate]) => [
          { quantity: a, rate },
          { quantity: b, rate },
        ]);
        return costNanoUsd(whole) === costNanoUsd(split);
      }),
    );
  });
});

describe('usdToNanoUsd', () => {
  it('reads what providers report', () => {
    expect(usdToNanoUsd(0.00019875)).toBe(198_750);
    expect(usdToNanoUsd(3.36e-5)).toBe(33_600);
  });
});

describe('times', () => {
  it('takes factors without a decimal form', () => {
    expect(times(attoUsdPerUnit(0.15, 1e6), { numerator: 5n, denominator: 3n })).toBe(attoUsdPerUnit(0.25, 1e6));
  });
});
