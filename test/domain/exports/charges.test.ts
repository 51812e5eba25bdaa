import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ChargePrices, openCharges, split } from '../../../lambda/domain/exports/charges.ts';
import { costNanoUsd } from '../../../lambda/domain/money.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';

const record = (facts: object) =>
  ({
    lines: [],
    costNanoUsd: null,
    provenance: 'computed',
    startedAt: '2026-11-02T10:20:00.000Z',
    ...facts,
  }) as unknown as RequestRecord;

const none: ChargePrices = { prices: [], months: {} };
const chargesOf = (of: RequestRecord, own = none) => openCharges('2026-11-02', own).ofRequest(of);

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

const lines = [
  { kind: 'input', quantity: 1_000, rateNanoUsdPerUnit: 37.5 },
  { kind: 'output', quantity: 3, rateNanoUsdPerUnit: 150 },
];
const price = (priceId: string, terms: object, from = '2026-10-20T00:00:00.000Z') =>
  ({ priceId, name: `My ${priceId}`, from, until: null, terms }) as unknown as ChargePrices['prices'][number];
const step = (kind: string, factor: string) => ({ priceId: kind, kind, factor });

describe('charges of a request', () => {
  it('add up to its cost, each as its price says, to less than one nano-dollar', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (some) => {
        const cost = costOf(some);
        const charges = chargesOf(record({ lines: some, costNanoUsd: cost }));
        for (const name of ['list', 'contracted', 'effective', 'billed', 'cost'] as const)
          expect(charges.reduce((sum, { costs }) => sum + costs[name], 0)).toBe(cost);
        for (const { quantity, listUnitPrice, contractedUnitPrice, costs } of charges) {
          expect(Math.abs(listUnitPrice * quantity - costs.list / 1e9)).toBeLessThan(1e-9 + 1e-15 * costs.list);
          expect(contractedUnitPrice).toBe(listUnitPrice);
          expect(costs).toMatchObject({ contracted: costs.list, billed: costs.list, markup: 0 });
        }
        expect(charges.filter(({ isFirst }) => isFirst)).toHaveLength(1);
      }),
    );
  });

  it('have one contracted price for all requests at a discount, next to the list price', () => {
    const ownPrices = { steps: [step('discount', '0.8')] };
    const charges = chargesOf(record({ lines, listCostNanoUsd: 37_950, costNanoUsd: 30_360, ownPrices }));
    expect(charges.map(({ costs }) => [costs.list, costs.contracted, costs.effective, costs.billed])).toEqual([
      [37_500, 30_000, 30_000, 30_000],
      [450, 360, 360, 360],
    ]);
    expect(charges.map(({ listUnitPrice }) => listUnitPrice)).toEqual([37.5e-9, 150e-9]);
    expect(charges.map(({ contractedUnitPrice }) => contractedUnitPrice)).toEqual([30e-9, 120e-9]);
  });

  it('are priced at the rates of the account, where it has some', () => {
    const own = lines.map((each) => ({ ...each, rateNanoUsdPerUnit: each.rateNanoUsdPerUnit * 2 }));
    const ownPrices = { steps: [{ priceId: 'r', kind: 'rates' }], lines: own };
    const charges = chargesOf(record({ lines, listCostNanoUsd: 37_950, costNanoUsd: 75_900, ownPrices }));
    expect(charges.map(({ contractedUnitPrice }) => contractedUnitPrice)).toEqual([75e-9, 300e-9]);
    expect(charges.map(({ costs }) => costs.contracted)).toEqual([75_000, 900]);
  });

  it('leave a markup out of all that is paid', () => {
    const ownPrices = { steps: [step('markup', '1.2')] };
    const [charge] = chargesOf(record({ costNanoUsd: 1_200, listCostNanoUsd: 1_000, markupNanoUsd: 200, ownPrices }));
    expect(charge?.costs).toEqual({
      list: 1_000,
      contracted: 1_000,
      effective: 1_000,
      billed: 1_000,
      cost: 1_200,
      markup: 200,
    });
  });

  it('are billed nothing where a commitment pays, and beyond what it includes what that costs', () => {
    const ownPrices = { steps: [step('commitment', '0.5')] };
    const own = (numerator: string, sum: string) => ({
      prices: [price('commitment', { kind: 'commitment', usd: 500, per: 'month' })],
      months: {
        '2026-11': {
          factors: { commitment: { numerator, denominator: '1000', sum, isShared: true } },
          asOf: '',
          isFinal: true,
          counted: '',
        },
      },
    });
    const used = record({ costNanoUsd: 500, listCostNanoUsd: 1_000, ownPrices });
    expect(chargesOf(used, own('500', '500'))[0]?.costs).toMatchObject({
      contracted: 1_000,
      effective: 500,
      billed: 0,
    });
    expect(chargesOf(used, own('500', '400'))[0]?.costs).toMatchObject({ effective: 500, billed: 100 });
    expect(chargesOf(used, own('500', '500'))[0]?.price?.name).toBe('My commitment');
  });

  it('are one where there are no lines, and none where the cost is unknown', () => {
    expect(chargesOf(record({ costNanoUsd: 1_234, provenance: 'provider' }))).toMatchObject([
      { kind: null, quantity: 1, costs: { cost: 1_234 }, contractedUnitPrice: 1.234e-6 },
    ]);
    expect(chargesOf(record({ costNanoUsd: 0, provenance: 'free' }))).toMatchObject([{ contractedUnitPrice: 0 }]);
    expect(chargesOf(record({ provenance: 'unknown' }))).toEqual([]);
  });
});

describe('rows of a day that no request makes', () => {
  it('have a credit by what it took off the requests of the day', () => {
    const credit = price('credit', { kind: 'credit', usd: 20 });
    const charges = openCharges('2026-11-02', { prices: [credit], months: {} });
    const ownPrices = { steps: [step('discount', '0.8'), step('credit', '0.25')] };
    const [used] = charges.ofRequest(record({ costNanoUsd: 200, listCostNanoUsd: 1_000, ownPrices }));
    expect(used?.costs).toMatchObject({ contracted: 800, effective: 800, billed: 800, cost: 200 });
    charges.ofRequest(record({ costNanoUsd: 240, markupNanoUsd: 40, listCostNanoUsd: 1_000, ownPrices }));
    // Rounded up: the credit took nothing.
    charges.ofRequest(record({ costNanoUsd: 801, listCostNanoUsd: 1_000, ownPrices }));
    expect(charges.ofDay()).toMatchObject([
      { category: 'Credit', costs: { billed: -1_200, effective: -1_200, cost: 0 } },
    ]);
    expect(openCharges('2026-11-02', { prices: [credit], months: {} }).ofDay()).toEqual([]);
  });

  it.each([
    ['2026-11-01', '2026-10-20T00:00:00.000Z', 500e9],
    ['2026-11-16', '2026-11-16T00:00:00.000Z', 250e9],
    ['2026-11-02', '2026-10-20T00:00:00.000Z', null],
    ['2026-11-01', '2026-12-01T00:00:00.000Z', null],
  ])('have the purchase of a commitment on its first day of the month: %s, from %s', (day, from, billed) => {
    const own = { prices: [price('c', { kind: 'commitment', usd: 500, per: 'month' }, from)], months: {} };
    const rows = openCharges(day, own).ofDay();
    expect(rows.map(({ category, costs }) => [category, costs.billed, costs.effective])).toEqual(
      billed === null ? [] : [['Purchase', billed, 0]],
    );
  });

  it('have a commitment that nothing used, on the last day of a month that is closed', () => {
    const own = (isFinal: boolean, isShared: boolean): ChargePrices => ({
      prices: [price('c', { kind: 'commitment', usd: 500, per: 'month' })],
      months: {
        '2026-11': {
          factors: { c: { numerator: '1', denominator: '1', sum: '500000000000', isShared } },
          asOf: '',
          isFinal,
          counted: '',
        },
      },
    });
    expect(openCharges('2026-11-30', own(true, false)).ofDay()).toMatchObject([
      { category: 'Usage', record: null, costs: { billed: 0, effective: 500e9 } },
    ]);
    expect(openCharges('2026-11-30', own(false, false)).ofDay()).toEqual([]);
    expect(openCharges('2026-11-30', own(true, true)).ofDay()).toEqual([]);
  });
});

describe('split', () => {
  it('adds up, and each part is in proportion to less than one', () => {
    fc.assert(
      fc.property(
        fc.nat(1e12),
        fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { minLength: 1, maxLength: 9 }),
        (whole, weights) => {
          const sum = weights.reduce((total, weight) => total + weight, 0n);
          fc.pre(sum > 0n);
          const parts = split(whole, weights);
          expect(parts.reduce((total, part) => total + part, 0)).toBe(whole);
          for (const [index, part] of parts.entries()) {
            const difference = BigInt(part) * sum - BigInt(whole) * (weights[index] as bigint);
            expect(difference < sum && difference > -sum).toBe(true);
          }
        },
      ),
    );
  });
});
