const TYPES = ['cost_threshold', 'spend_anomaly', 'budget_forecast', 'error_rate', 'unpriced_usage'] as const;

export type RuleType = (typeof TYPES)[number];

export const ruleSearch = ({ type }: Record<string, unknown>): { readonly type?: RuleType | undefined } => ({
  type: TYPES.find((known) => known === type),
});
