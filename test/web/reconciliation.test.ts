import { expect, it } from '@jest/globals';
import type { Reconciliation } from '../../web/src/api/responses.ts';
import { formatMoney } from '../../web/src/format/numbers.ts';
import { summaryText } from '../../web/src/reconciliation/buckets.ts';

const of = (day: string, amountUsd: number) => ({
  ...{ bucket: 'notThroughGateway', day, model: 'gpt-4o', item: null },
  amountNanoUsd: amountUsd * 1e9,
});
const inEuro = (nano: number | null) => formatMoney(nano && nano * 0.9, 'sum', 'EUR');
const summary = (throughGatewayShare: number | null, findings: object[] = [], missingUsd = 0) =>
  summaryText(
    {
      provider: 'openai',
      throughGatewayShare,
      differences: [{ bucket: 'notThroughGateway', amountNanoUsd: missingUsd * 1e9 }],
      findings,
    } as unknown as Reconciliation,
    inEuro,
  );

it('says what of a bill came through the gateway, never all where something is missing', () => {
  expect(summary(null)).toBeNull();
  expect(summary(1)).toBe('100% of your OpenAI bill came through here.');
  expect(summary(0.9999)).toBe('99.9% of your OpenAI bill came through here.');
});

it.each([
  ['all', [10]],
  ['most', [6, 4]],
  ['the largest part', [5, 3, 2]],
])('says that %s of what did not is the largest finding', (part, amounts) => {
  const findings = amounts.map((amount, index) => of(`2026-10-0${index + 7}`, amount));
  expect(summary(0.5, findings, 10)).toContain(`; €9.00 did not, ${part} of it gpt-4o on Oct 7`);
});
