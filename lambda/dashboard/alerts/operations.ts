import * as z from 'zod';
import { alertSchema } from '../../domain/alert-rules/alert.ts';
import { operation } from '../../http/operation.ts';

const alertView = alertSchema
  .omit({ alertId: true, accountId: true })
  .extend({
    id: z.string(),
    observedUsd: z.string().nullable().describe('`observed` in USD where its unit is nanoUsd.'),
    limitUsd: z.string().nullable(),
  })
  .meta({ id: 'Alert' });

const group = 'Alerts';

export const listAlerts = operation({
  id: 'listAlerts',
  method: 'GET',
  path: '/alerts',
  group,
  summary: 'List triggered alerts, newest first',
  description: 'A page may be short, even empty, and yet have a next one: go on until nextCursor is null.',
  access: 'authorizer',
  query: z.strictObject({
    status: z.enum(['triggered', 'acknowledged']).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(25),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .describe('nextCursor of the page before; keep the other parameters.')
      .optional(),
  }),
  success: {
    status: 200,
    description: 'A page.',
    schema: z.object({ items: z.array(alertView), nextCursor: z.string().nullable() }),
  },
  errors: ['NOT_FOUND'],
});

export const acknowledgeAlert = operation({
  id: 'acknowledgeAlert',
  method: 'PATCH',
  path: '/alerts/{id}/acknowledge',
  group,
  summary: 'Acknowledge an alert',
  description: 'Again changes nothing.',
  access: 'authorizer',
  params: z.strictObject({ id: z.string().min(1).max(64) }),
  success: { status: 200, description: 'The alert as it is now.', schema: alertView },
  errors: ['NOT_FOUND'],
});
