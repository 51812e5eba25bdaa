import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { scopeShape, termsSchema } from '../../domain/own-prices/own-price.ts';
import { decisions, findingScope as scope } from '../../domain/savings/decision.ts';
import { certainties, findingKinds } from '../../domain/savings/finding-kinds.ts';
import { forMachines, inGroup, ok } from '../../http/operation.ts';
import { dayOrInstant, timeRange } from '../../http/parameters.ts';
import { compareSpend } from '../spend/operations.ts';

const operation = inGroup('Savings');

const nanoUsd = z.int().check(z.describe('In 1e-9 USD.'));
const recorded = z.nullable(nanoUsd);
const requests = z.int();
const text = z.string().check(z.maxLength(256));
const value = z.optional(z.nullable(text).check(z.describe('Null selects requests without one.')));

const range = {
  from: z.optional(dayOrInstant.check(z.describe('First day or instant. Default: 30 days ago.'))),
  to: timeRange.to,
};

const examined = {
  from: z.iso.datetime().check(z.describe('The requests were read from then on.')),
  to: z.iso.datetime(),
  isComplete: z
    .boolean()
    .check(z.describe('False where only the newest requests of the range were read, or some could not be.')),
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
        provider: z.optional(hostLabel.check(z.describe('The provider of the model. Default: that of each request.'))),
        tier: z.optional(
          z
            .enum(['standard', 'batch', 'flex', 'priority'])
            .check(z.describe('The service tier that all requests would have used.')),
        ),
        price: z.optional(
          z
            .strictObject({ ...scopeShape, terms: termsSchema })
            .check(z.describe('A price as of POST /prices, for the whole range.')),
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
    recordedNanoUsd: recorded.check(
      z.describe('The cost of the requests, as recorded. Null if no part of it is known.'),
    ),
    requests: requests.check(z.describe('Those that can be compared. The next three are about them.')),
    oldNanoUsd: z.int().check(z.describe('Their cost without the change, priced again now.')),
    newNanoUsd: z.int().check(z.describe('The same with the change, and the same tokens.')),
    differenceNanoUsd: nanoUsd,
    sameText: z
      .object({ leastNanoUsd: nanoUsd, mostNanoUsd: nanoUsd })
      .check(
        z.describe(
          'What the change costs if another model needs its own number of tokens for the same text: bounds, see docs/savings.md.',
        ),
      ),
    breakEvenNanoUsd: z
      .nullable(nanoUsd)
      .check(
        z.describe('The flat amount for 30 days at which a commitment costs as much as now. Null for other changes.'),
      ),
    groups: z
      .array(
        z.object({
          provider: z.string(),
          model: z.nullable(z.string()),
          tag: z.nullable(z.string()),
          requests,
          oldNanoUsd: nanoUsd,
          newNanoUsd: nanoUsd,
          differenceNanoUsd: nanoUsd,
        }),
      )
      .check(z.describe('By model and tag, at most 100, the largest difference first.')),
    incomparable: z
      .array(z.object({ reason: z.string(), requests, recordedNanoUsd: recorded }))
      .check(z.describe('Requests that cannot be compared, and why.')),
  }),
});

const displayPerMonth = z
  .nullable(z.string())
  .check(z.describe('The same in the display currency, at the rate of the last day.'));

export const listSavings = operation('listSavings', 'GET /savings', {
  summary: 'List where money is wasted',
  description:
    'Each finding is arithmetic over requests on record: at least $1 a month, the largest first. The range has at most 31 days and about 20,000 requests. Who sees a part of the account gets what its keys waste.',
  permission: 'requests:read',
  query: z.strictObject(range),
  success: ok('The findings.', {
    ...examined,
    requests,
    displayCurrency: z.nullable(z.string()).check(z.describe('ISO 4217; null for US dollars only.')),
    items: z
      .array(
        z.object({
          id: z.string(),
          kind: z.enum(findingKinds),
          scope,
          nanoUsdPerMonth: z.int().check(z.describe('In 1e-9 USD, for 30 days.')),
          displayPerMonth,
          certainty: z
            .enum(certainties)
            .check(
              z.describe(
                '`exact`: sums of what was charged. `estimated`: usage is. `at_most`: a bound. `at_least`: the cost of some requests is unknown. `if_equal`: if the other model does the same work with as many tokens. `if_continued`: if use goes on as it is.',
              ),
            ),
          arithmetic: z.string(),
          requests,
          requestIds: z.array(z.string()).check(z.describe('At most 10, the costliest first.')),
        }),
      )
      .check(z.describe('Those about which nothing was decided.')),
    decided: z
      .array(
        z.object({
          id: z.string(),
          kind: z.enum(findingKinds),
          scope,
          decision: z.enum(decisions),
          reason: z.nullable(z.string()),
          by: z.string(),
          at: z.iso.datetime(),
          nanoUsdPerMonth: z.nullable(nanoUsd).check(z.describe('Null where it is not found any more.')),
          displayPerMonth,
          since: z
            .nullable(
              z.object({
                from: z.iso.datetime(),
                to: z.iso.datetime(),
                costBeforeNanoUsd: z.nullable(nanoUsd),
                costNanoUsd: z.nullable(nanoUsd),
                effects: compareSpend.success.schema.shape.effects,
              }),
            )
            .check(
              z.describe(
                'What the requests of a watched one cost for at most 30 days since, and as much time before, and why it changed: see GET /spend/compare. Null for what is not about requests.',
              ),
            ),
        }),
      )
      .check(z.describe('Those that were dismissed, or are watched. Who sees a part of the account gets none.')),
  }),
});

export const machineListSavings = forMachines(listSavings);
