import * as z from 'zod/mini';
import { alertSchema } from '../../domain/alerts/alert.ts';
import { inGroup, ok } from '../../http/operation.ts';
import { count, described, PAGE_DESCRIPTION, pageOf, pageParameters, unreadable } from '../../http/parameters.ts';

const alertView = z
  .extend(z.omit(alertSchema, { alertId: true, accountId: true }), {
    id: z.string(),
    figureUsd: described(z.nullable(z.string()), '`figure` in USD. Null if its unit is not nanoUsd.'),
    limitUsd: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: 'Alert' });

const oneAlert = z
  .extend(alertView, {
    final: described(
      z.nullable(
        z.object({
          figure: z.number(),
          figureUsd: z.nullable(z.string()),
          unpricedRequests: count,
        }),
      ),
      'What the whole period came to, in `unit`; `figure` is the value when the alert fired. Null while the period lasts, for rules that were changed or deleted since, and where the counters are no longer kept.',
    ),
  })
  .register(z.globalRegistry, { id: 'AlertWithFinal' });

const operation = inGroup('Alerts');

export const listAlerts = operation('listAlerts', 'GET /alerts', {
  summary: 'List triggered alerts, newest first',
  description: PAGE_DESCRIPTION,
  permission: 'rules:read',
  query: z.strictObject({
    status: z.optional(z.enum(['triggered', 'acknowledged'])),
    ...pageParameters({ default: 25, max: 100 }),
  }),
  success: pageOf(alertView, { unreadable }),
  errors: ['NOT_FOUND'],
});

export const getAlert = operation('getAlert', 'GET /alerts/{id}', {
  summary: 'Get an alert',
  permission: 'rules:read',
  success: ok('The alert.', oneAlert),
});

export const acknowledgeAlert = operation('acknowledgeAlert', 'PATCH /alerts/{id}/acknowledge', {
  audits: ['alert.acknowledged'],
  summary: 'Acknowledge an alert',
  description: 'Resolves the incident that it opened in PagerDuty. Acknowledging it again changes nothing.',
  permission: 'rules:write',
  success: ok('The updated alert.', alertView),
});
