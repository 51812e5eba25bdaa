import * as z from 'zod/mini';
import { roles } from '../accounts/permissions.ts';
import { hostLabel, hostLabels } from '../host-label.ts';
import { type SpendCounter, sumMap } from '../spend/counters.ts';
import { OTHER } from '../spend/dimensions.ts';
import { sumOfKnown } from '../spend/known-cost.ts';
import { costOf } from '../spend/spend-report.ts';
import { type AccessRule, accessToProvider, concernsKey, type KeyOfAccess, permitsModels } from './access.ts';
import { chosenId, usdAmount } from './config-members.ts';

/** The gateway looks through all of them with each request of the account, and reads them as one item, which has room for 400 kB. */
export const MAX_ACCESS_RULES = 50;
const MAX_PATTERNS = 40;
const MAX_PATTERN_CHARACTERS = 100;

const PATTERN = /^(\*|[a-z0-9-]+)\/\S+$/;

const patterns = z
  .array(
    z.string().check(
      z.maxLength(MAX_PATTERN_CHARACTERS),
      z.regex(PATTERN, {
        error: 'must be a provider and a model, each of which may be *: openai/gpt-4o*, anthropic/*, */llama-3*',
        abort: true,
      }),
      z.refine((pattern) => pattern.startsWith('*/') || hostLabel.safeParse(pattern.split('/')[0]).success, {
        error: `must begin with */, or a provider, which is ${hostLabels}`,
      }),
    ),
  )
  .check(z.maxLength(MAX_PATTERNS));

export const accessRuleMembers = {
  scope: z
    ._default(
      z.strictObject({
        key: chosenId('Id of a service key.'),
        project: chosenId('Id of a project: its keys, also later ones.'),
        role: z.optional(z.enum(roles).check(z.describe('The keys of members with this role.'))),
      }),
      {},
    )
    .check(z.describe('The keys that match all of these. Without members, all keys of the account.')),
  allowed: z
    ._default(z.nullable(patterns), null)
    .check(
      z.describe(
        'Only these may be called: `openai/gpt-4o*`, `anthropic/*`, `*/llama-3*`. A model without `*` includes its dated versions. Null: everything that is not denied.',
      ),
    ),
  denied: z._default(patterns, []).check(z.describe('These may not be called, even if they are allowed.')),
  maxRequestUsd: z
    ._default(z.nullable(usdAmount), null)
    .check(
      z.describe(
        'A request that may cost more is refused: see docs/budgets.md for what it may cost. Null: no highest.',
      ),
    ),
};

/** Schema of a rule with the given members. */
export const accessRuleWith = <S extends z.core.$ZodShape>(members: S) =>
  z.strictObject({ ...members, ...accessRuleMembers }).check(
    z.refine(
      (rule) => {
        const { allowed, denied, maxRequestUsd } = rule as unknown as AccessRule;
        return allowed !== null || denied.length > 0 || maxRequestUsd !== null;
      },
      { path: ['allowed'], error: 'must be given, or denied models, or a highest price of a request' },
    ),
  );

/** Requests of a provider, model and key that a rule would have refused. */
interface RefusedRequests {
  readonly provider: string;
  readonly model: string | null;
  readonly keyId: string | null;
  readonly requests: number;
  readonly costNanoUsd: number | null;
  /** The cost leaves them out. */
  readonly unpricedRequests: number;
}

const MAX_SHOWN = 100;

/**
 * Counts what a rule would have refused, by the models that served requests. A highest price of a request is not judged by counters.
 *
 * @param rule what the counters are judged by, added one by one
 */
export const accessPreview = (rule: AccessRule, keys: readonly KeyOfAccess[]) => {
  const keyOf = new Map(keys.map((key) => [key.keyId, key]));
  const refused = sumMap();
  const mayBeRefused = sumMap();
  let requests = 0;
  const concerns = (keyId: string | null): boolean => concernsKey(rule, keyOf.get(keyId) ?? { keyId });
  return {
    /** Says whether the rule is for requests of a key, or of none that is known. */
    concerns,
    add: ({ dimensions: { provider, model, keyId }, counters }: SpendCounter): void => {
      const isUnknown = keyId === OTHER || model === OTHER;
      if (keyId !== OTHER && !concerns(keyId)) return;
      requests += counters.requests ?? 0;
      const access = accessToProvider(rule, provider);
      const isRefused = access === 'refused' || !permitsModels(rule, provider, model === null ? [] : [model]);
      if (access === 'permitted' || !(isRefused || isUnknown)) return;
      // Only a provider that may not be called is refused what costs nothing.
      const costly = (counters.requests ?? 0) - (access === 'refused' ? 0 : (counters.freeRequests ?? 0));
      if (costly > 0)
        (isUnknown ? mayBeRefused : refused).add(JSON.stringify([provider, model, keyId]), {
          ...counters,
          requests: costly,
        });
    },
    result: () => {
      const itemsOf = ({ sums }: typeof refused): RefusedRequests[] =>
        [...sums].map(([names, counters]) => {
          const [provider, model, keyId] = JSON.parse(names) as [string, string | null, string | null];
          const { requests = 0, unpricedRequests = 0 } = counters;
          return { provider, model, keyId, requests, costNanoUsd: costOf(counters), unpricedRequests };
        });
      const totalOf = (items: readonly RefusedRequests[]) => ({
        requests: items.reduce((sum, item) => sum + item.requests, 0),
        costNanoUsd: sumOfKnown(items.map(({ costNanoUsd }) => costNanoUsd)),
        unpricedRequests: items.reduce((sum, item) => sum + item.unpricedRequests, 0),
      });
      const items = itemsOf(refused).sort((a, b) => b.requests - a.requests);
      const unsure = totalOf(itemsOf(mayBeRefused));
      return {
        requests,
        refused: totalOf(items),
        items: items.slice(0, MAX_SHOWN),
        mayAlsoMatch: unsure.requests > 0 ? unsure : null,
      };
    },
  };
};
