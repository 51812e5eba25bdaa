import { expect, it } from '@jest/globals';
import type { ReportContent } from '../../../lambda/domain/reports/report-content.ts';
import { changesText, effectsText, reportMoney, summaryText } from '../../../lambda/domain/reports/report-text.ts';

const contentOf = (costNanoUsd: number, displayCost: string) =>
  ({
    currency: { code: 'EUR', perUsd: '0.5' },
    totals: { costBeforeNanoUsd: 2e9, displayCostBefore: '2', costNanoUsd, displayCost },
    effects: { volumeNanoUsd: costNanoUsd - 2e9, mixNanoUsd: 0, priceNanoUsd: 0 },
  }) as ReportContent;

it('names changes that are not known, the largest first, and none where nothing changed', () => {
  const content = contentOf(3e9, '3');
  const groups = [
    ['same', 1, 1],
    ['more', 1, 4],
    ['unknown', null, 1],
    ['most', 1, 9],
    ['least', 1, 2],
  ].map(([value, before, now]) => ({ value, label: null, displayCostBefore: before, displayCost: now }));
  expect(changesText({ by: 'model', groups } as never, reportMoney(content))).toBe(
    'unknown (not known), most +€8.00, more +€3.00',
  );
});

it('says that it is not known what was spent before', () => {
  const totals = { costBeforeNanoUsd: null, costNanoUsd: 2e9, requests: 1, unpricedRequests: 0 };
  const content = { every: 'weekly', totals } as ReportContent;
  expect(summaryText(content, reportMoney(content))).toBe(
    '$2.00 was spent on 1 request. What was spent the week before is unknown.',
  );
});

it('says what the exchange rate takes away', () => {
  const content = contentOf(4e9, '2.5');
  expect(effectsText(content, reportMoney(content))).toContain('exchange rate -€0.50');
});

it('is in US dollars where a day of either period has no rate', () => {
  const { totals, ...content } = contentOf(4e9, '2.5');
  for (const unknown of [{ displayCost: null }, { displayCostBefore: null }]) {
    const money = reportMoney({ ...content, totals: { ...totals, ...unknown } });
    expect(money.text(money.of(totals).now)).toBe('$4.00');
  }
});
