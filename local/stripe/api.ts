import { clockRoutes } from './api/clock.ts';
import { customerRoutes } from './api/customers.ts';
import type { ApiContext, ApiRoute } from './api/route.ts';
import { sessionRoutes } from './api/sessions.ts';
import { subscriptionRoutes } from './api/subscriptions.ts';

/** The calls that billing and its tests make, with the parameters and responses of the `stripe` package. */
export const apiRoutes = (context: ApiContext): readonly ApiRoute[] =>
  [customerRoutes, subscriptionRoutes, sessionRoutes, clockRoutes].flatMap((routes) => routes(context));
