import type { Writable } from 'node:stream';
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

/** Writes as fast as its bytes are taken, then ends the stream. */
export const writeAsTaken = (stream: Writable, total: number) => {
  const piece = Buffer.alloc(64 * 1024, 1);
  const written = { bytes: 0 };
  const write = (): void => {
    while (written.bytes < total) {
      written.bytes += piece.length;
      if (!stream.write(piece)) return void stream.once('drain', write);
    }
    stream.end();
  };
  write();
  return written;
};

/** How much is written when nothing more has been taken for half a second. */
export const bytesAtStandstill = async (written: { readonly bytes: number }): Promise<number> => {
  let last = 0;
  for (let still = 0; still < 5; still++) {
    if (written.bytes > last) still = 0;
    last = written.bytes;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return last;
};
