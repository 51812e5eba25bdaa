import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { scopeShape, termsSchema } from '../../domain/own-prices/own-price.ts';
import { decisions, findingScope as scope } from '../../domain/savings/decision.ts';
import { certainties, findingKinds } from '../../domain/savings/finding-kinds.ts';
import { forMachines, inGroup, ok } from '../../http/operation.ts';
import { dayOrInstant, described, timeRange } from '../../http/parameters.ts';
import { compareSpend } from '../spend/operations.ts';

const operation = inGroup('Savings');

const nanoUsd = described(z.int(), 'In 1e-9 USD.');
const recorded = z.nullable(nanoUsd);
const requests = z.int();
const text = z.string().check(z.maxLength(256));
const value = described(z.optional(z.nullable(text)), 'Null selects requests without one.');

const range = {
  from: described(z.optional(dayOrInstant), 'First day or instant. Default: 30 days ago.'),
  to: timeRange.to,
};

const examined = {
  from: described(z.iso.datetime(), 'The requests were read from then on.'),
  to: z.iso.datetime(),
  isComplete: described(
    z.boolean(),
    'False where only the newest requests of the range were read, or some could not be.',
  ),
};

export const readWhatIf = operation('readWhatIf', 'POST /spend/what-if', {
  summary: 'Price requests of the past again, with a change',
  description:
    'At most 31 days and 20,000 requests. The requests are priced by the code that priced them. Stores nothing.',
  permission: 'requests:read',
  audits: 'Reads only.',
  body: z.strictObject({
    ...range,
    filter: z._default(
      z.strictObject({
        provider: z.optional(hostLabel),
        model: value,
        tag: value,
        key: value,
        client: value,
      }),
      {},
    ),
    change: z
      .strictObject({
        model: z.optional(text.check(z.minLength(1))),
        provider: described(z.optional(hostLabel), 'The provider of the model. Default: that of each request.'),
        tier: described(
          z.optional(z.enum(['standard', 'batch', 'flex', 'priority'])),
          'The service tier that all requests would have used.',
        ),
        price: described(
          z.optional(z.strictObject({ ...scopeShape, terms: termsSchema })),
          'A price as of POST /prices, for the whole range.',
        ),
      })
      .check(
        z.refine(
          (change) => Object.values(change).filter((part) => part !== undefined).length > 0,
          'needs a model, a tier or a price',
        ),
      ),
  }),
  success: ok('The cost before and after.', {
    ...examined,
    recordedNanoUsd: described(recorded, 'The cost of the requests, as recorded. Null if no part of it is known.'),
    requests: described(requests, 'Those that can be compared. The next three are about them.'),
    oldNanoUsd: described(z.int(), 'Their cost without the change, priced again now.'),
    newNanoUsd: described(z.int(), 'The same with the change, and the same tokens.'),
    differenceNanoUsd: nanoUsd,
    sameText: described(
      z.object({ leastNanoUsd: nanoUsd, mostNanoUsd: nanoUsd }),
      'What the change costs if another model needs its own number of tokens for the same text: bounds, see docs/savings.md.',
    ),
    breakEvenNanoUsd: described(
      z.nullable(nanoUsd),
      'The flat amount for 30 days at which a commitment costs as much as now. Null for other changes.',
    ),
    groups: described(
      z.array(
        z.object({
          provider: z.string(),
          model: z.nullable(z.string()),
          tag: z.nullable(z.string()),
          requests,
          oldNanoUsd: nanoUsd,
          newNanoUsd: nanoUsd,
          differenceNanoUsd: nanoUsd,
        }),
      ),
      'By model and tag, at most 100, the largest difference first.',
    ),
    incomparable: described(
      z.array(z.object({ reason: z.string(), requests, recordedNanoUsd: recorded })),
      'Requests that cannot be compared, and why.',
    ),
  }),
});

const displayPerMonth = described(
  z.nullable(z.string()),
  'The same in the display currency, at the rate of the last day.',
);

export const listSavings = operation('listSavings', 'GET /savings', {
  summary: 'List where money is wasted',
  description:
    'Each finding is arithmetic over requests on record: at least $1 a month, the largest first. The range has at most 31 days and about 20,000 requests. Who sees a part of the account gets what its keys waste.',
  permission: 'requests:read',
  query: z.strictObject(range),
  success: ok('The findings.', {
    ...examined,
    requests,
    displayCurrency: described(z.nullable(z.string()), 'ISO 4217; null for US dollars only.'),
    items: described(
      z.array(
        z.object({
          id: z.string(),
          kind: z.enum(findingKinds),
          scope,
          nanoUsdPerMonth: described(z.int(), 'In 1e-9 USD, for 30 days.'),
          displayPerMonth,
          certainty: described(
            z.enum(certainties),
            '`exact`: sums of what was charged. `estimated`: usage is. `at_most`: a bound. `at_least`: the cost of some requests is unknown. `if_equal`: if the other model does the same work with as many tokens. `if_continued`: if use goes on as it is.',
          ),
          arithmetic: z.string(),
          requests,
          requestIds: described(z.array(z.string()), 'At most 10, the costliest first.'),
        }),
      ),
      'Those about which nothing was decided.',
    ),
    decided: described(
      z.array(
        z.object({
          id: z.string(),
          kind: z.enum(findingKinds),
          scope,
          decision: z.enum(decisions),
          reason: z.nullable(z.string()),
          by: z.string(),
          at: z.iso.datetime(),
          nanoUsdPerMonth: described(z.nullable(nanoUsd), 'Null where it is not found any more.'),
          displayPerMonth,
          since: described(
            z.nullable(
              z.object({
                from: z.iso.datetime(),
                to: z.iso.datetime(),
                costBeforeNanoUsd: z.nullable(nanoUsd),
                costNanoUsd: z.nullable(nanoUsd),
                effects: compareSpend.success.schema.shape.effects,
              }),
            ),
            'What the requests of a watched one cost for at most 30 days since, and as much time before, and why it changed: see GET /spend/compare. Null for what is not about requests.',
          ),
        }),
      ),
      'Those that were dismissed, or are watched. Who sees a part of the account gets none.',
    ),
  }),
});

export const machineListSavings = forMachines(listSavings);
