import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { createAccessRule } from './access-operations.ts';

const operation = inGroup('Access rules');

const count = z.int().check(z.nonnegative());
const sums = {
  requests: count,
  costNanoUsd: z.nullable(count).check(z.describe('Null if no part of it is known.')),
  unpricedRequests: count.check(z.describe('Requests of unknown cost, which the cost leaves out.')),
};

export const previewAccessRule = operation('previewAccessRule', 'POST /access-rules/preview', {
  audits: 'Reads only.',
  summary: 'Preview which requests an access rule would have refused',
  description:
    "Judges the account's last 30 days, by the keys, projects and roles of today. Nothing is stored or refused.",
  permission: 'spend:read-all',
  body: createAccessRule.body,
  success: ok('What it would have refused.', {
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    requests: count.check(z.describe('Requests of the keys that the rule is for.')),
    refused: z.object(sums).check(z.describe('Those that it would have refused for their provider or model.')),
    items: z
      .array(
        z.object({
          provider: z.string(),
          model: z.nullable(z.string()).check(z.describe('That served the requests. Null where it is not known.')),
          keyId: z.nullable(z.string()),
          ...sums,
        }),
      )
      .check(z.describe('The most requests first; 100 at most.')),
    mayAlsoMatch: z
      .nullable(z.object(sums))
      .check(z.describe('Requests counted under `(other)` that it may have refused, too. Null if there are none.')),
    dearest: z
      .nullable(
        z.object({
          items: z.array(
            z.object({
              id: z.string(),
              startedAt: z.iso.datetime(),
              provider: z.string(),
              model: z.nullable(z.string()),
              costNanoUsd: count,
            }),
          ),
          examinedFrom: z
            .nullable(z.iso.datetime())
            .check(z.describe('Only requests from then on were looked through. Null: all of the 30 days.')),
        }),
      )
      .check(
        z.describe(
          'The 10 dearest requests that cost more than the highest price. More would be refused: a request is judged by the most that it may cost. Null without a highest price.',
        ),
      ),
  }),
});
