import { randomBytes } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Context } from 'aws-lambda';
import { uuidv7 } from 'uuidv7';
import type { EmulatedTable } from '../../fixtures/emulated-table.ts';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { openApiTokens } from '../../lambda/data/accounts/api-tokens.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { maskedSecret, newApiToken, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { collected } from '../http/collected.ts';
import { apiEvent } from '../http/invoke.ts';

/** What the functions of the dashboard API read at their start. */
const setEnvironment = (table: EmulatedTable): void => {
  Object.assign(process.env, {
    ...emulatorVariables,
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    TABLE_NAME: table.name,
    OBJECT_BUCKET: 'objects',
    MAIL_FROM: 'alerts@example.com',
    MAIL_CONFIGURATION_SET: 'mail',
    DASHBOARD_URL: 'https://spend.example.com',
    WEBHOOK_TARGETS: '{"ports":[],"internalHosts":[]}',
    CORS_ORIGINS: 'https://spend.example.com',
    USER_POOL_CLIENT_ID: 'localclient0000000000000001',
  });
};

/** Makes API tokens, and the SDK's clients that use them. Their requests go to the deployed entry. */
export const openAgents = async (table: EmulatedTable) => {
  setEnvironment(table);
  const handler = collected((await import('../../lambda/dashboard/functions/machine.ts')).handler);

  const newToken = async (
    { accountId, userId }: { readonly accountId: string; readonly userId: string },
    role: Role = 'viewer',
    projects?: readonly string[],
  ): Promise<string> => {
    const token = newApiToken(randomBytes);
    const tokenId = uuidv7();
    await openApiTokens(table).create(
      {
        tokenId,
        accountId,
        userId: `user-${tokenId}`,
        name: 'agent',
        role,
        ...(projects && { projects: [...projects] }),
        tokenHash: secretHash(token),
        maskedToken: maskedSecret(token),
        createdBy: userId,
        createdAt: new Date().toISOString(),
        validUntil: new Date(Date.now() + 30 * DAY_MS).toISOString(),
      },
      `${tokenId}@tokens.invalid`,
      auditEntry(accountId, {}, { action: 'token.created', subject: tokenId, details: {} }, new Date()),
    );
    return token;
  };

  const connect = async (token: string): Promise<Client> => {
    const transport = new StreamableHTTPClientTransport(new URL('https://spend.example.com/api/mcp'), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
      fetch: async (_, init) => {
        const event = apiEvent({
          method: init?.method ?? 'GET',
          path: '/api/mcp',
          headers: Object.fromEntries(new Headers(init?.headers)),
          ...(init?.body != null && { rawBody: String(init.body) }),
        });
        const { statusCode, headers, body } = await handler(event, {} as Context);
        return new Response(body === '' ? null : body, {
          status: statusCode,
          headers: headers as Record<string, string>,
        });
      },
    });
    const connected = new Client({ name: 'test', version: '1.0.0' });
    await connected.connect(transport as Parameters<Client['connect']>[0]);
    return connected;
  };
  return { handler, newToken, connect };
};

/** What a tool responds. */
export const callTool = async (client: Client, name: string, args: object = {}) => {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const [{ text }] = content as [{ text: string }];
  return { text, isError: isError === true };
};
