import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, jest } from '@jest/globals';
import { listen, portOf, stopServer } from '../../fixtures/listen.ts';

/** A self-signed certificate for hooks.example.com, for these tests only. */
export const testCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBrjCCAVOgAwIBAgIUP+j33d4gHzdPeF9SeL+F1E2H+6EwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRaG9va3MuZXhhbXBsZS5jb20wIBcNMjYxMTIwMTcxOTMwWhgP
MjEyNjEwMjcxNzE5MzBaMBwxGjAYBgNVBAMMEWhvb2tzLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAExrasP+cEuI+fiSvk/e5uaEgqLtMwZzMs
JZEWlpmWB0uuhmiOjwFLTFG7bWx7Iv5IPsoC85g/o+TNE6jrfHxyVqNxMG8wHQYD
VR0OBBYEFJczp7hU/7n/Z4KFQXwPMPBFGW+6MB8GA1UdIwQYMBaAFJczp7hU/7n/
Z4KFQXwPMPBFGW+6MA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRaG9va3Mu
ZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSQAwRgIhAKipgItA4oAWou3s0meKxZ/c
ZG8lbzZSyRrSy2s8o2TtAiEAlmURpjCrHtN0THTF7vEVjI4Y52GW7o/TtWjpmUSB
Jzg=
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBq5PxDLGDfrzw8Q6
VomuQgpzW2dPEvdYl2JdUX7fELyhRANCAATGtqw/5wS4j5+JK+T97m5oSCou0zBn
MywlkRaWmZYHS66GaI6PAUtMUbttbHsi/kg+ygLzmD+j5M0TqOt8fHJW
-----END PRIVATE KEY-----`,
};

/** Runs a receiver of webhooks with this certificate for the tests of a file; each test says how it responds. */
export const receiverForTests = () => {
  const respond = jest.fn<(request: IncomingMessage, response: ServerResponse, body: string) => void>();
  let server: Server;
  beforeAll(async () => {
    server = createServer(testCertificate, async (request, response) =>
      respond(request, response, await text(request)),
    );
    await listen(server);
  });
  afterAll(() => stopServer(server));
  beforeEach(() => {
    respond.mockReset();
  });
  return {
    respond,
    get port() {
      return portOf(server);
    },
  };
};
