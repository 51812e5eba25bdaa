import { clockRoutes } from './api/clock.ts';
import { customerRoutes } from './api/customers.ts';
import type { ApiContext, ApiRoute } from './api/route.ts';
import { sessionRoutes } from './api/sessions.ts';
import { subscriptionRoutes } from './api/subscriptions.ts';

/** The calls that billing makes, and those that tests make beside: parameters and answers are what the `stripe` package has. */
export const apiRoutes = (context: ApiContext): readonly ApiRoute[] =>
  [customerRoutes, subscriptionRoutes, sessionRoutes, clockRoutes].flatMap((routes) => routes(context));
