import { describe, expect, it } from '@jest/globals';
import type { Usage } from '../../../lambda/domain/usage/usage.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { normalizeUsage, reading } from './metered-usage.ts';
import data from './normalize.json' with { type: 'json' };

/** What a provider's usage object says, with what else a response `said`, and what the members in question come to. */
interface Case {
  readonly provider: string;
  readonly usage?: Record<string, unknown>;
  readonly said?: Partial<Reading>;
  readonly expected: Partial<Usage> | null;
}

const groups = data as unknown as Readonly<Record<string, Readonly<Record<string, readonly Case[]>>>>;

describe.each(Object.entries(groups))('%s', (_group, tests) => {
  it.each(Object.entries(tests))('%s', (_name, cases) => {
    for (const { provider, usage = null, said, expected } of cases) {
      const found = normalizeUsage(provider, reading({ usage, ...said }));
      expect([usage, found]).toEqual([usage, expected && { ...found, ...expected }]);
    }
  });
});
