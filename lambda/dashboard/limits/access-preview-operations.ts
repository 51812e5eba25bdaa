import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { count, described } from '../../http/parameters.ts';
import { createAccessRule } from './access-operations.ts';

const operation = inGroup('Access rules');

const sums = {
  requests: count,
  costNanoUsd: described(z.nullable(count), 'Null if no part of it is known.'),
  unpricedRequests: described(count, 'Requests of unknown cost, which the cost leaves out.'),
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
    requests: described(count, 'Requests of the keys that the rule is for.'),
    refused: described(z.object(sums), 'Those that it would have refused for their provider or model.'),
    items: described(
      z.array(
        z.object({
          provider: z.string(),
          model: described(z.nullable(z.string()), 'That served the requests. Null where it is not known.'),
          keyId: z.nullable(z.string()),
          ...sums,
        }),
      ),
      'The most requests first; 100 at most.',
    ),
    mayAlsoMatch: described(
      z.nullable(z.object(sums)),
      'Requests counted under `(other)` that it may have refused, too. Null if there are none.',
    ),
    dearest: described(
      z.nullable(
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
          examinedFrom: described(
            z.nullable(z.iso.datetime()),
            'Only requests from then on were looked through. Null: all of the 30 days.',
          ),
        }),
      ),
      'The 10 dearest requests that cost more than the highest price. More would be refused: a request is judged by the most that it may cost. Null without a highest price.',
    ),
  }),
});
