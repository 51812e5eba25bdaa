import { afterAll, beforeAll } from '@jest/globals';
import { type ScriptedOrigin, startScriptedOrigin } from '../../fixtures/scripted-origin.ts';
import { type GatewayHost, type HostSettings, startGatewayHost } from './gateway-host.ts';

/** A provider and a gateway in front of it for the tests of this file, or of the `describe` that calls this. */
export const gatewayForTests = (settings: Omit<HostSettings, 'origin'> = {}) => {
  const [origin, host] = [{} as ScriptedOrigin, {} as GatewayHost];
  beforeAll(async () => {
    await startScriptedOrigin(origin);
    Object.assign(host, await startGatewayHost({ ...settings, origin: origin.origin }));
  });
  afterAll(async () => {
    await host.close();
    await origin.close();
  });
  return { origin, host };
};
