import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chargesOf, split } from '../../../lambda/domain/exports/charges.ts';
import { costNanoUsd } from '../../../lambda/domain/money.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';

const record = (facts: object) =>
  ({ lines: [], costNanoUsd: null, provenance: 'computed', ...facts }) as unknown as RequestRecord;

/** Rates as books have them: down to a thousandth of a nano-dollar. */
const line = fc.record({
  kind: fc.constantFrom('input', 'output', 'cacheRead', 'audioSeconds'),
  quantity: fc.integer({ min: 0, max: 2_000_000 }),
  rateNanoUsdPerUnit: fc.integer({ min: 0, max: 60_000_000 }).map((thousandths) => thousandths / 1_000),
});
const costOf = (lines: readonly { quantity: number; rateNanoUsdPerUnit: number }[]): number =>
  costNanoUsd(
    lines.map(({ quantity, rateNanoUsdPerUnit }) => ({
      quantity,
      rate: BigInt(Math.round(rateNanoUsdPerUnit * 1_000)) * 10n ** 6n,
    })),
  );

describe('charges of a request', () => {
  it('add up to its cost, each as its price says, to less than one nano-dollar', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const cost = costOf(lines);
        const charges = chargesOf(record({ lines, costNanoUsd: cost }));
        expect(charges.reduce((sum, charge) => sum + charge.costNanoUsd, 0)).toBe(cost);
        for (const { quantity, listUnitPrice, listNanoUsd, unitPrice, costNanoUsd: own } of charges) {
          expect(Math.abs(listUnitPrice * quantity - listNanoUsd / 1e9)).toBeLessThan(1e-9 + 1e-15 * listNanoUsd);
          expect(unitPrice).toBe(listUnitPrice);
          expect(own).toBe(listNanoUsd);
        }
        expect(charges.filter(({ isFirst }) => isFirst)).toHaveLength(1);
      }),
    );
  });

  it('have the list cost next to the effective one, where the account has own prices', () => {
    const lines = [
      { kind: 'input', quantity: 1_000, rateNanoUsdPerUnit: 37.5 },
      { kind: 'output', quantity: 3, rateNanoUsdPerUnit: 150 },
    ];
    const charges = chargesOf(record({ lines, listCostNanoUsd: 37_950, costNanoUsd: 30_360 }));
    expect(charges.map(({ listNanoUsd }) => listNanoUsd)).toEqual([37_500, 450]);
    expect(charges.map(({ costNanoUsd }) => costNanoUsd)).toEqual([30_000, 360]);
    expect(charges.map(({ listUnitPrice }) => listUnitPrice)).toEqual([37.5e-9, 150e-9]);
    expect(charges.map(({ unitPrice }) => unitPrice)).toEqual([30e-9, 120e-9]);
  });

  it('are one where there are no lines, and none where the cost is unknown', () => {
    expect(chargesOf(record({ costNanoUsd: 1_234, provenance: 'provider' }))).toMatchObject([
      { kind: null, quantity: 1, costNanoUsd: 1_234, unitPrice: 1.234e-6 },
    ]);
    expect(chargesOf(record({ costNanoUsd: 0, provenance: 'free' }))).toMatchObject([{ costNanoUsd: 0, unitPrice: 0 }]);
    expect(chargesOf(record({ provenance: 'unknown' }))).toEqual([]);
  });
});

it('a whole number is split without a rest', () => {
  expect(split(10, [1n, 1n, 1n])).toEqual([4, 3, 3]);
  expect(split(0, [5n, 1n])).toEqual([0, 0]);
});
