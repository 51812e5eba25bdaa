export interface SessionsSearch {
  readonly orderBy?: 'time' | undefined;
}

/** The order from the URL; by cost where it has none. */
export const sessionsSearch = (search: Record<string, unknown>): SessionsSearch =>
  search['orderBy'] === 'time' ? { orderBy: 'time' } : {};
