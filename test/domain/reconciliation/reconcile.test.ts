import { describe, expect, it } from '@jest/globals';
import { addDays } from '../../../lambda/domain/calendar/utc.ts';
import { type Bucket, reconcile } from '../../../lambda/domain/reconciliation/reconcile.ts';
import { randomFrom } from '../../../ops/meter/random.ts';
import { SEED as seed } from '../../seed.ts';
import { type Discrepancy, FROM, simulateMonth } from './simulate-month.ts';

const CENT = 10_000_000;

const line = (day: string, item: string, amountNanoUsd: number) => ({
  day,
  item,
  model: null,
  amountNanoUsd,
});

const fee = line('2026-10-09', 'Fine-tuning storage', 900 * CENT);
const from = (model: string) => (usage: { readonly model: string }) => usage.model === model;
const [isGpt4o, isSonnet] = [from('gpt-4o'), from('claude-sonnet-4')];
/** Each kind of discrepancy, and the bucket that must name it. */
const kinds: readonly [name: string, bucket: Bucket, discrepancy: Discrepancy][] = [
  [
    'a tenth of a model outside the gateway',
    'notThroughGateway',
    { isOutside: (usage, index) => isGpt4o(usage) && index % 10 === 0 },
  ],
  ['a model that never passes the gateway', 'notThroughGateway', { isOutside: from('claude-opus-4') }],
  ['one model at another price', 'priceDiffers', { priceFactor: (usage) => (isGpt4o(usage) ? 1.2 : 1) }],
  [
    'another price from a day on',
    'priceDiffers',
    { priceFactor: (usage) => (isGpt4o(usage) && usage.day >= '2026-10-15' ? 0.8 : 1) },
  ],
  ['a discount on everything', 'discount', { priceFactor: () => 0.85 }],
  ['a credit', 'discount', { extraLines: [line('2026-10-20', 'Promotional credit', -500 * CENT)] }],
  [
    'requests on the bill of the next day',
    'timing',
    { billedDay: ({ day }, index) => (index % 40 === 0 && day < '2026-10-31' ? addDays(day, 1) : day) },
  ],
  [
    'requests without a record',
    'trackingGap',
    { isUntracked: (usage, index) => usage.day === '2026-10-07' && isSonnet(usage) && index % 2 === 0 },
  ],
  ['a model without a price', 'unknownCost', { isUnpriced: isSonnet }],
  ['a bill that is not complete', 'notBilledYet', { isBilledYet: (day) => day < '2026-10-30' }],
  ['a fee that nothing recorded causes', 'notThroughGateway', { extraLines: [fee] }],
];

const bills = [
  { withUsage: true, inCents: false },
  { withUsage: true, inCents: true },
  { withUsage: false, inCents: false },
  { withUsage: false, inCents: true },
] as const;

const explainedShare = (input: Parameters<typeof reconcile>[0]): number => {
  const { billedNanoUsd, findings } = reconcile(input);
  const unexplained = findings
    .filter(({ bucket }) => bucket === 'unexplained')
    .reduce((sum, { amountNanoUsd }) => sum + Math.abs(amountNanoUsd), 0);
  return 1 - unexplained / billedNanoUsd;
};

/** Expects a month with one kind of discrepancy to be named by its bucket, but for half a percent. */
const expectNamed = (seed: number, bill: (typeof bills)[number], bucket: Bucket, discrepancy: Discrepancy): void => {
  const { input, movedNanoUsd } = simulateMonth(randomFrom(seed), bill, discrepancy);
  const { differences, findings } = reconcile(input);
  const of = (wanted: (finding: (typeof findings)[number]) => boolean) =>
    findings.filter(wanted).reduce((sum, { amountNanoUsd }) => sum + Math.abs(amountNanoUsd), 0);
  const named = of((finding) => finding.bucket === bucket);
  const others = of((finding) => finding.bucket !== bucket && finding.bucket !== 'rounding');
  expect(named).toBeGreaterThan(0);
  expect({ seed, others: others / (named + others) }).toEqual({ seed, others: expect.closeTo(0, 2) });
  expect(Object.values(differences).reduce((sum, amount) => sum + amount, 0)).toBe(movedNanoUsd);
  expect(explainedShare(input)).toBeGreaterThanOrEqual(0.995);
};

describe.each(bills)('a bill with token counts: $withUsage, in whole cents: $inCents', (bill) => {
  it.each(kinds)('names %s: %s', (_name, bucket, discrepancy) => expectNamed(seed, bill, bucket, discrepancy));

  // In these months, whole cents make a discount of small days differ, four days' differences agree, and rounding add up.
  it.each([501_133_447, 9_843_317, 2_304_038])('names each kind in month %d', (month) => {
    for (const [, bucket, discrepancy] of kinds) expectNamed(month, bill, bucket, discrepancy);
  });

  it('names nothing but rounding in 20 clean months', () => {
    for (let month = 0; month < 20; month += 1) {
      const { input } = simulateMonth(randomFrom(seed + month), bill);
      expect(reconcile(input).findings.filter(({ bucket }) => bucket !== 'rounding')).toEqual([]);
    }
  });

  it('explains a month of all kinds at once to the nano-dollar', () => {
    const { input, movedNanoUsd } = simulateMonth(randomFrom(seed), bill, {
      isOutside: ({ model }, index) => model === 'gpt-4o' && index % 50 === 0,
      isUntracked: ({ day }, index) => day === '2026-10-07' && index % 30 === 0,
      isUnpriced: ({ model, day }) => model === 'claude-opus-4' && day < '2026-10-03',
      billedDay: ({ day }, index) => (index % 90 === 0 && day < '2026-10-31' ? addDays(day, 1) : day),
      extraLines: [line('2026-10-20', 'Promotional credit', -300 * CENT)],
      isBilledYet: (day) => day < '2026-10-31',
    });
    const { differences } = reconcile(input);
    expect(Object.values(differences).reduce((sum, amount) => sum + amount, 0)).toBe(movedNanoUsd);
    expect({ seed, share: explainedShare(input) }).toEqual({ seed, share: expect.closeTo(1, 2) });
    expect(explainedShare(input)).toBeGreaterThanOrEqual(0.995);
  });
});

const modelBill = (day: string, model: string, amountNanoUsd: number, item = model) => ({
  ...line(day, item, amountNanoUsd),
  model,
});
const recordOf = (day: string, model: string, costNanoUsd: number, requests: number) => ({
  ...{ day, model, costNanoUsd, requests, unpricedRequests: 0 },
  tokens: { input: 1_000 * requests, cacheRead: 0, cacheWrite: 0, output: 0 },
});
type Month = Parameters<typeof reconcile>[0];
const reconciled = (facts: Partial<Month> & Pick<Month, 'bill' | 'recorded'>) =>
  reconcile({ from: FROM, to: addDays(FROM, 30), untracked: new Map(), listCost: () => null, ...facts });

it.each([
  ['far fewer tokens than recorded', 1],
  ['no tokens', 0],
])('makes up no amounts where the provider has counted %s', (_, share) => {
  const tokens = { input: 100_000, cacheRead: 0, cacheWrite: 0, output: 1_000 };
  const counted = { input: 1_000 * share, cacheRead: 0, cacheWrite: 0, output: 10 * share };
  for (const listCost of [
    () => null,
    (_model: string, _day: string, { input, output }: typeof tokens) => input + 4 * output,
  ]) {
    const { findings } = reconciled({
      bill: {
        lines: [modelBill(FROM, 'gpt-4o', 500 * CENT, 'gpt-4o, input')],
        usage: [{ day: FROM, model: 'gpt-4o', tokens: counted, requests: 9 }],
      },
      recorded: [{ ...recordOf(FROM, 'gpt-4o', 600 * CENT, 9), tokens }],
      listCost,
    });
    for (const { amountNanoUsd } of findings) expect(Math.abs(amountNanoUsd)).toBeLessThanOrEqual(600 * CENT);
  }
});

it.each([
  ['a refund of a model', [1_000, -400], [{ bucket: 'discount', item: 'Refund', amountNanoUsd: -400 * CENT }]],
  ['a line that was billed wrongly, taken back and billed again', [1_500, -1_500, 1_000], []],
  ['a refund of what was billed twice', [2_000, -1_000], []],
])('names %s as what it is', (_, amounts, expected) => {
  const lines = amounts.map((cents) =>
    modelBill(FROM, 'gpt-4o-2024-08-06', cents * CENT, cents < 0 ? 'Refund' : 'usage'),
  );
  const recorded = [recordOf(FROM, 'gpt-4o', 1_000 * CENT, 2)];
  expect(reconciled({ bill: { lines, usage: [] }, recorded }).findings).toMatchObject(expected);
});

it('does not take a day for billed that has credits alone', () => {
  const credit = line(FROM, 'Promotional credit', -500 * CENT);
  const recorded = [recordOf(FROM, 'gpt-4o', 1_000 * CENT, 2)];
  // Two equal lines are one finding: its day, model and item name it.
  expect(reconciled({ bill: { lines: [credit, credit], usage: [] }, recorded }).findings).toEqual([
    { bucket: 'discount', day: FROM, model: null, item: credit.item, amountNanoUsd: -1_000 * CENT },
    { bucket: 'notBilledYet', day: FROM, model: 'gpt-4o', item: null, amountNanoUsd: -1_000 * CENT },
  ]);
});

it('finds that fees which the bill lists apart are in recorded costs', () => {
  const lines = [
    modelBill(FROM, 'claude-sonnet-4-20250514', 18_000_001, 'claude-sonnet-4 usage'),
    line(FROM, 'Web search', 20_000_000),
  ];
  const recorded = [recordOf(FROM, 'claude-sonnet-4', 38_000_001, 2)];
  expect(reconciled({ bill: { lines, usage: [] }, recorded }).findings).toEqual([]);
});

it.each([
  [
    'the last day, whose requests may be on the bill of the next',
    '2026-10-05',
    { timing: -100 * CENT, unexplained: 0 },
  ],
  ['an earlier day', '2026-10-06', { timing: 0, unexplained: -100 * CENT }],
])('explains less than recorded on %s', (_, to, expected) => {
  const bill = { lines: [modelBill('2026-10-05', 'gpt-4o', 900 * CENT)], usage: [] };
  const recorded = [recordOf('2026-10-05', 'gpt-4o', 1_000 * CENT, 10)];
  expect(reconciled({ bill, recorded, to }).differences).toMatchObject(expected);
});

const dollars = (...ratios: readonly number[]) => ratios.map((ratio) => [1_000 * CENT, ratio] as const);
const fine = (...ratios: readonly number[]) => ratios.map((ratio) => [1_000 * CENT + 1, ratio] as const);
it.each([
  ['no price of three days', fine(1.1, 1.1, 1.1), false],
  ['a price of four days', fine(1.1, 1.1, 1.1, 1.1), true],
  ['no price of days whose ratios move', fine(1.1, 1.100_001_5, 1.100_003, 1.100_004_5), false],
  ['no price of four days in whole cents', dollars(1.1, 1.1, 1.1, 1.1), false],
  ['a price of five days in whole cents', dollars(1.1, 1.1, 1.1, 1.1, 1.1), true],
  [
    'a price of these and of days that prove nothing',
    [...dollars(1.1, 1.1, 1.1, 1.1, 1.1), [10 * CENT, 1.1], [10 * CENT, 1.1]] as const,
    true,
  ],
])('finds %s', (_, amounts, isPrice) => {
  const days = amounts.map(([recorded, ratio], n) => ({ day: addDays(FROM, n), recorded, ratio }));
  const lines = days.map(({ day, recorded, ratio }) => modelBill(day, 'gpt-4o', Math.round(recorded * ratio)));
  const recorded = days.map(({ day, recorded: nanoUsd }) => recordOf(day, 'gpt-4o', nanoUsd, 1));
  const { differences, billedNanoUsd, recordedNanoUsd } = reconciled({ bill: { lines, usage: [] }, recorded });
  expect(differences.priceDiffers).toBe(isPrice ? billedNanoUsd - recordedNanoUsd : 0);
});

it.each([[['gpt-4o', 'o3']], [['o3', 'gpt-4o']]])(
  'takes a fee from models in the order of their names: %j',
  (models) => {
    const recorded = models.map((model) => recordOf(FROM, model, 200 * CENT, 1));
    const bill = { lines: [line(FROM, 'Web search', 300 * CENT)], usage: [] };
    expect(reconciled({ bill, recorded }).findings).toMatchObject([{ model: 'o3', amountNanoUsd: -100 * CENT }]);
  },
);

it('does not take a lower price for requests of unknown cost', () => {
  const [day, model] = [FROM, 'gpt-4o'];
  const recorded = { ...recordOf(day, model, 1_000 * CENT, 10), unpricedRequests: 1 };
  const usage = [{ day, model, requests: 10, tokens: recorded.tokens }];
  const bill = { lines: [modelBill(day, model, 800 * CENT)], usage };
  expect(reconciled({ bill, recorded: [recorded] }).differences.unknownCost).toBe(0);
});

it('takes a fee for no cost of another day', () => {
  const lines = [line('2026-10-05', 'Web search', 300 * CENT), modelBill('2026-10-05', 'gpt-4o', 500 * CENT)];
  const other = modelBill('2026-10-06', 'gpt-4o', 200 * CENT);
  const recorded = [recordOf('2026-10-05', 'gpt-4o', 500 * CENT, 10), recordOf('2026-10-06', 'gpt-4o', 500 * CENT, 10)];
  const { differences } = reconciled({ bill: { lines: [...lines, other], usage: [] }, recorded });
  expect(differences.notThroughGateway).toBe(300 * CENT);
});

it.each([
  ['whose number is billed', [15, 5], [1_200, 1_200], 200, 200],
  ['whose number is billed for some', [20, null], [1_200, 1_200], 400, 0],
  ['of which the bill has none', [5, 5], [1_200, 1_200], 0, 400],
  ['as dear as the others', [], [2_000, 2_000], 1_000, 1_000],
  ['each at most twice as dear as the others', [], [4_000, 4_000], 2_000, 4_000],
  ['the model that lacks the most first', [], [1_100, 2_000], 1_000, 100],
] as const)('takes a tracking gap for no more requests than were not tracked, %s', (_, requests, cents, gap, rest) => {
  const day = '2026-10-05';
  const models = ['gpt-4o', 'o3'];
  const tokens = { input: 5 * cents[0], cacheRead: 0, cacheWrite: 0, output: 0 };
  const usage = models.flatMap((model) => requests.map((each) => ({ day, model, requests: each, tokens })));
  const bill = { lines: models.map((model, index) => modelBill(day, model, (cents[index] ?? 0) * CENT)), usage };
  const recorded = models.map((model) => recordOf(day, model, 1_000 * CENT, 10));
  const listCost = (_model: string, _day: string, { input }: { input: number }) => (input / 1_000) * 100 * CENT;
  const { differences } = reconciled({ bill, recorded, listCost, untracked: new Map([[day, 10]]) });
  expect([differences.trackingGap, differences.notThroughGateway]).toEqual([gap * CENT, rest * CENT]);
});
