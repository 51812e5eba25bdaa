/** What serves the dashboard API: one function per resource. Its entry is `lambda/dashboard/{name}/handler.ts`. */
export type DashboardResource = 'auth' | 'spend' | 'requests';

export interface DashboardRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below {base_url}, which ends in /api. */
  readonly path: `/${string}`;
  readonly resource: DashboardResource;
  /** `cognito`: API Gateway refuses requests without a valid token. `none`: the handler admits whom it will. */
  readonly authorizer: 'cognito' | 'none';
}

/** Every route of the dashboard API. A path or method that is not here is answered with 404 by API Gateway. */
export const dashboardRoutes: readonly DashboardRoute[] = [
  { method: 'POST', path: '/auth/register', resource: 'auth', authorizer: 'none' },
  { method: 'POST', path: '/auth/login', resource: 'auth', authorizer: 'none' },
  { method: 'POST', path: '/auth/refresh', resource: 'auth', authorizer: 'none' },
  { method: 'POST', path: '/auth/forgot-password', resource: 'auth', authorizer: 'none' },
  { method: 'POST', path: '/auth/reset-password', resource: 'auth', authorizer: 'none' },
  // The handler verifies the token: nothing under /auth has an authorizer.
  { method: 'GET', path: '/auth/me', resource: 'auth', authorizer: 'none' },
  { method: 'GET', path: '/spend', resource: 'spend', authorizer: 'cognito' },
  { method: 'GET', path: '/spend/export.csv', resource: 'spend', authorizer: 'cognito' },
  { method: 'GET', path: '/requests', resource: 'requests', authorizer: 'cognito' },
  { method: 'GET', path: '/requests/{requestId}', resource: 'requests', authorizer: 'cognito' },
];
