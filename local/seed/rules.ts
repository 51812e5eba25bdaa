/** Rules of the made-up company, as POST /alert-rules takes it. */
export const seedRules = [
  { type: 'cost_threshold', name: 'Daily limit', config: { threshold: 22, period: 'daily' }, channels: ['email'] },
  {
    type: 'budget_forecast',
    name: 'Monthly budget',
    config: { budget: 600 },
    channels: ['email'],
  },
  {
    type: 'spend_anomaly',
    name: 'Unusual day',
    config: { period: 'daily', factor: 2, minimum: 10 },
    channels: ['email'],
  },
  {
    type: 'error_rate',
    name: 'Anthropic overloaded',
    config: { threshold: 12, period: 'daily', minimumRequests: 20, filter: { provider: 'anthropic' } },
    channels: ['email'],
  },
  {
    type: 'unpriced_usage',
    name: 'Models without a price',
    config: { threshold: 5, period: 'weekly' },
    channels: ['email'],
  },
] as const;
