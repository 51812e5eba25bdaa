import { startGatewayHost } from '../../gateway/gateway-host.ts';
import { startRawOrigin } from '../raw/raw-origin.ts';
import type { ScenarioGroup } from '../scenario.ts';
import { type TransportName, telling, transports } from '../transports.ts';
import { type Context, silent } from './client-fixture.ts';
import { leavingClients } from './leaving.ts';
import { stayingClients } from './staying.ts';

export const clientGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Clients that disconnect, stall or push, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    origin.script = silent;
    return {
      origin,
      start: (settings, moments = {}) =>
        startGatewayHost({
          origin: origin.origin,
          transport: telling(transports[transport], moments),
          ...settings,
        }),
    };
  },
  close: ({ origin }) => origin.close(),
  scenarios: [...leavingClients, ...stayingClients],
});
