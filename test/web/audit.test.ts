import { describe, expect, it } from '@jest/globals';
import { detailsText } from '../../web/src/audit/texts.ts';

const names = new Map([['project-1', 'Search']]);
const entry = (amount: number, filter?: object) => ({
  config: JSON.stringify({ amount, notifyAt: [80, 100], filter }),
  name: 'Team',
});

describe('an entry of the audit log', () => {
  it('has the old and the new value of what changed, and nothing else', () => {
    const [before, details] = [entry(100, { project: 'project-1' }), entry(200)];
    expect(detailsText({ details, before: { config: before.config } }, names)).toBe(
      'Team, amount: 100 → 200, filter.project: Search → none',
    );
    const pausing = (pause: object | null) => ({ config: JSON.stringify({ pause }) });
    expect(detailsText({ details: pausing({ minutes: null }), before: pausing({ minutes: 60 }) })).toBe(
      'pause.minutes: 60 → none',
    );
    expect(detailsText({ details: pausing(null), before: pausing({ minutes: 60 }) })).toBe('pause.minutes: 60 → none');
    const rates = [{ from: '2026-11-01', perUsd: '0.9' }];
    expect(detailsText({ details: { rates: JSON.stringify(rates) }, before: { rates: '[]' } })).toBe(
      'rates: none → from 2026-11-01 perUsd 0.9',
    );
    expect(detailsText({ details: { name: 'New' }, before: { name: '[Old' } })).toBe('name: [Old → New');
    expect(detailsText({ details: { tag: 'batch' }, before: { tag: '' } })).toBe('tag: none → batch');
  });

  it('has everything of what is new', () => {
    const terms = '{"kind":"volume","tiers":[{"from":0,"percent":5}]}';
    const details = { terms, ...entry(100, { project: 'project-1' }) };
    expect(detailsText({ details, before: null }, names)).toBe(
      'name: Team, amount: 100, notifyAt: 80, 100, filter.project: Search, terms.kind: volume, terms.tiers: from 0 percent 5',
    );
  });
});
