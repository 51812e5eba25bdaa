import * as z from 'zod';
import { alertSchema } from '../../domain/alert-rules/alert.ts';
import { operation } from '../../http/operation.ts';
import { PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/page.ts';

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
  description: PAGE_DESCRIPTION,
  access: 'authorizer',
  query: z.strictObject({
    status: z.enum(['triggered', 'acknowledged']).optional(),
    ...pageParameters({ default: 25, max: 100 }),
  }),
  success: {
    status: 200,
    description: 'A page.',
    schema: pageOf(alertView),
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
