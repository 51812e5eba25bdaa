import * as z from 'zod/mini';
import { alertSchema } from '../../domain/alerts/alert.ts';
import { idParams } from '../../http/id-params.ts';
import { operation } from '../../http/operation.ts';
import { PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/page.ts';

const alertView = z
  .extend(z.omit(alertSchema, { alertId: true, accountId: true }), {
    id: z.string(),
    observedUsd: z.nullable(z.string()).check(z.describe('`observed` in USD. Null if its unit is not nanoUsd.')),
    limitUsd: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: 'Alert' });

const oneAlert = z
  .extend(alertView, {
    final: z
      .nullable(
        z.object({
          observed: z.number(),
          observedUsd: z.nullable(z.string()),
          unpricedRequests: z.int().check(z.nonnegative()),
        }),
      )
      .check(
        z.describe(
          'What the whole period came to, in `unit`; `observed` is the value when the alert fired. Null while the period lasts, for rules that were changed or deleted since, and where the counters are no longer kept.',
        ),
      ),
  })
  .register(z.globalRegistry, { id: 'AlertWithFinal' });

const group = 'Alerts';

export const listAlerts = operation({
  id: 'listAlerts',
  method: 'GET',
  path: '/alerts',
  group,
  summary: 'List triggered alerts, newest first',
  description: PAGE_DESCRIPTION,
  permission: 'rules:read',
  query: z.strictObject({
    status: z.optional(z.enum(['triggered', 'acknowledged'])),
    ...pageParameters({ default: 25, max: 100 }),
  }),
  success: {
    status: 200,
    description: 'One page.',
    schema: pageOf(alertView),
  },
  errors: ['NOT_FOUND'],
});

export const getAlert = operation({
  id: 'getAlert',
  method: 'GET',
  path: '/alerts/{id}',
  group,
  summary: 'Get an alert',
  permission: 'rules:read',
  params: idParams,
  success: { status: 200, description: 'The alert.', schema: oneAlert },
  errors: ['NOT_FOUND'],
});

export const acknowledgeAlert = operation({
  id: 'acknowledgeAlert',
  method: 'PATCH',
  path: '/alerts/{id}/acknowledge',
  group,
  summary: 'Acknowledge an alert',
  description: 'Acknowledging it again changes nothing.',
  permission: 'rules:write',
  params: idParams,
  success: { status: 200, description: 'The updated alert.', schema: alertView },
  errors: ['NOT_FOUND'],
});
