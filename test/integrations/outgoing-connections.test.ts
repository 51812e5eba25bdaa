import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/** What opens a connection, other than AWS's SDK. Types do not. */
const OPENS =
  /^(?!import type ).*from '(?:node:)?(?:https?|http2|net|tls|dgram|undici[^']*|ws|stripe)'|(?<![.\w])fetch\((?!\))|new WebSocket\(/m;

/** By who decides to what address it goes: see docs/security.md. */
const known: Readonly<Record<string, readonly string[]>> = {
  'the table of providers': [
    'lambda/gateway/upstream/upstream-node.ts',
    'lambda/gateway/upstream/upstream-undici.ts',
    'lambda/gateway/upstream/undici-agent.d.ts',
    'lambda/gateway/websocket/websocket-relay.ts',
    'lambda/integrations/bills/read-json.ts',
  ],
  'the stage: AWS and its user pool': [
    'lambda/gateway/aws/transport-node.ts',
    'lambda/gateway/aws/transport-undici.ts',
    'lambda/integrations/sign-on.ts',
    'lambda/integrations/token-verifier.ts',
  ],
  "Stripe's library": ['lambda/integrations/stripe-client.ts', 'lambda/integrations/stripe-webhook-event.ts'],
  'users and operators: public addresses only': [
    'lambda/integrations/read-public-file.ts',
    'lambda/integrations/webhook.ts',
  ],
  'nobody: it accepts connections, or reads addresses': [
    'lambda/gateway/hosts/http-server.ts',
    'lambda/gateway/hosts/warm-up.ts',
  ],
};

describe('connections to the outside', () => {
  it('are opened in files that are known alone', () => {
    const files = globSync('lambda/**/*.ts', { cwd: ROOT }).filter((file) =>
      OPENS.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(files.sort()).toEqual(Object.values(known).flat().sort());
  });

  it('to addresses of users and operators pass the check of public addresses', () => {
    for (const file of known['users and operators: public addresses only'] ?? [])
      expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(/await targetOf\(/);
  });
});
