export interface AlertsSearch {
  readonly status?: 'triggered' | 'acknowledged' | undefined;
}

export const alertsSearch = ({ status }: Record<string, unknown>): AlertsSearch => ({
  status: (['triggered', 'acknowledged'] as const).find((known) => known === status),
});
