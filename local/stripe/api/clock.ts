import { z } from 'zod';
import { listOf } from '../render.ts';
import { type ApiContext, type ApiRoute, page, paged } from './route.ts';

const CLOCK = 'clock_local';

const eventsParameters = z.object(page);
const advanceParameters = z.object({ frozen_time: z.coerce.number().int() });

/** The clock, and what has happened by it. */
export const clockRoutes = ({ store, life }: ApiContext): readonly ApiRoute[] => {
  const clock = () => ({
    id: CLOCK,
    object: 'test_helpers.test_clock',
    frozen_time: store.now(),
    status: 'ready',
    livemode: false,
  });
  return [
    {
      method: 'GET',
      path: '/v1/events',
      respond: ({ parameters }) => {
        const { items, hasMore } = paged(store.events, eventsParameters.parse(parameters));
        return listOf(
          '/v1/events',
          items.map(({ payload }) => JSON.parse(payload) as object),
          hasMore,
        );
      },
    },
    // One clock for everything: Stripe has one for each test customer.
    { method: 'GET', path: `/v1/test_helpers/test_clocks/${CLOCK}`, respond: clock },
    {
      method: 'POST',
      path: `/v1/test_helpers/test_clocks/${CLOCK}/advance`,
      respond: ({ parameters }) => {
        life.advanceTo(advanceParameters.parse(parameters).frozen_time);
        return clock();
      },
    },
  ];
};
