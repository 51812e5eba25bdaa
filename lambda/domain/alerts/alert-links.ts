import { queryOf } from '../calendar/range.ts';
import type { RuleCondition } from '../limits/rule.ts';
import type { Alert } from './alert.ts';
import type { AlertLinks } from './alert-text.ts';

/** The dashboard's pages about an alert. @param condition of its rule, if it still has one */
export const alertLinks = (
  dashboardUrl: string,
  { alertId, period, of }: Pick<Alert, 'alertId' | 'period' | 'of'>,
  condition?: RuleCondition,
): AlertLinks => {
  const { dim, ...filter } = (condition?.config as { filter?: Record<string, unknown> } | undefined)?.filter ?? {};
  const dimensions: Record<string, unknown> = {
    ...filter,
    ...Object.fromEntries(Object.entries((dim ?? {}) as object).map(([name, value]) => [`dim:${name}`, value])),
    // Spend has no dimension for sessions.
    ...(of && of.dimension !== 'session' && { [of.dimension]: of.value }),
  };
  const search = new URLSearchParams({
    range: 'custom',
    ...queryOf({ from: period.start, to: period.end }),
    // The dashboard reads JSON: a value such as `42` stays a text.
    ...Object.fromEntries(Object.entries(dimensions).map(([name, value]) => [name, JSON.stringify([value])])),
  });
  return { alert: `${dashboardUrl}/alerts/${alertId}`, spend: `${dashboardUrl}/?${search}` };
};
