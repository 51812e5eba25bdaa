import { describe, expect, it } from '@jest/globals';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { update } from '../../../lambda/data/table/actions.ts';
import { apiTokenKey } from '../../../lambda/data/table/keys.ts';
import { findItem } from '../../../lambda/data/table/read.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { eventually, joinAccount, type Session, sendChat, verifyEmail } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

const RETURN_TO = 'https://claude.ai/api/mcp/auth_callback';

const running = stackForTests({}, async () => {
  const { url, session } = running;
  await verifyEmail(running, session);
  await sendChat(url, session.accountId);
  await eventually(
    async () => (await running.api('GET', '/spend', { token: session.token })).body.totals,
    ({ requests, unfinishedRequests }) => requests === 1 && unfinishedRequests === 0,
    { scheduled: [] },
  );
});
const url = () => running.url;

/** A connector as hosted ones are: it knows the URL, and nothing else. */
const newConnector = (redirectUrl = RETURN_TO) => {
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; page?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Claude',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    state: () => 'state of the connector',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (page) => {
      kept.page = page;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(`${url()}/api/mcp`), { authProvider: provider });
  return {
    kept,
    transport,
    connect: async () => {
      const client = new Client({ name: 'connector', version: '1' });
      await client.connect(transport());
      return client;
    },
  };
};
type Connector = ReturnType<typeof newConnector>;

/** Begins to connect, up to the page that asks the person. */
const begin = async (connector = newConnector()): Promise<Connector & { readonly page: URLSearchParams }> => {
  await expect(connector.connect()).rejects.toThrow(UnauthorizedError);
  expect(`${connector.kept.page?.origin}${connector.kept.page?.pathname}`).toBe(`${url()}/authorize`);
  return { ...connector, page: connector.kept.page?.searchParams ?? new URLSearchParams() };
};

/** What the page sends when the person agrees. */
const agree = (page: URLSearchParams, { token }: Session, others: object = {}) =>
  running.api('POST', '/tokens/authorizations', {
    token,
    body: {
      clientId: page.get('client_id'),
      redirectUri: page.get('redirect_uri'),
      codeChallenge: page.get('code_challenge'),
      state: page.get('state'),
      resource: page.get('resource'),
      role: 'viewer',
      ...others,
    },
  });
const returnedTo = ({ body }: Awaited<ReturnType<typeof agree>>) => new URL(body.redirectTo).searchParams;

const connected = async (session = running.session, others: object = {}) => {
  const connector = await begin();
  const returned = returnedTo(await agree(connector.page, session, others));
  await connector.transport().finishAuth(returned.get('code') ?? '');
  return connector;
};

const redeem = (form: Record<string, string>) =>
  running.api('POST', '/auth/token', {
    rawBody: new URLSearchParams({ grant_type: 'authorization_code', ...form }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('a connector that knows the URL of MCP', () => {
  it('finds out where to ask, is let in by a person, and reads spend', async () => {
    const connector = await begin();
    const response = await agree(connector.page, running.session);
    expect(response.status).toBe(201);
    expect(response.body.redirectTo.startsWith(`${RETURN_TO}?code=sac_`)).toBe(true);
    const returned = returnedTo(response);
    expect(returned.get('state')).toBe('state of the connector');
    expect(returned.get('iss')).toBe(url());
    await connector.transport().finishAuth(returned.get('code') ?? '');
    expect(connector.kept.tokens).toEqual({
      access_token: expect.stringMatching(/^sat_/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      issuer: url(),
    });
    const client = await connector.connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('spend');
    const { content } = await client.callTool({ name: 'spend', arguments: {} });
    const { totals } = (await running.api('GET', '/spend', { token: running.session.token })).body;
    expect(JSON.parse((content as [{ text: string }])[0].text).totals).toMatchObject({
      requests: 1,
      costUsd: totals.costUsd,
    });
    await client.close();
  });

  it('finds the metadata without the header, which API Gateway renames', async () => {
    const response = await fetch(`${url()}/api/mcp`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
    const path = '/.well-known/oauth-protected-resource/api/mcp';
    expect(response.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${url()}${path}"`);
    expect(await (await fetch(`${url()}${path}`)).json()).toMatchObject({ resource: `${url()}/api/mcp` });
    expect((await running.api('GET', path)).body.authorization_servers).toEqual([url()]);
    const server = await running.api('GET', '/.well-known/oauth-authorization-server');
    expect(server.body).toMatchObject({ issuer: url(), code_challenge_methods_supported: ['S256'] });
  });

  it('is in the list of tokens and in the audit log, and out once it is revoked', async () => {
    const { api } = running;
    const connector = await connected(running.session, { expiresInDays: 7 });
    const [token] = (await api('GET', '/tokens', { token: running.session.token })).body.items.slice(-1);
    const secret = connector.kept.tokens?.access_token ?? '';
    expect(token).toMatchObject({
      name: 'Claude',
      role: 'viewer',
      createdBy: running.session.userId,
      maskedToken: `${secret.slice(0, 8)}…${secret.slice(-4)}`,
    });
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(7 * 86_400_000);
    const { items } = (await api('GET', '/audit', { token: running.session.token })).body;
    const facts = items.filter(({ subject }: { subject: string }) => subject === token.id);
    expect(facts.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
      ['token.exchanged', {}],
      ['token.created', { name: 'Claude', role: 'viewer', client: 'claude.ai' }],
    ]);
    expect((await api('DELETE', `/tokens/${token.id}`, { token: running.session.token })).status).toBe(204);
    await expect(connector.connect()).rejects.toThrow();
  });

  it('gets a token that reads, and is no way to a JWT', async () => {
    const connector = await connected(running.session, { role: 'admin' });
    const secret = connector.kept.tokens?.access_token ?? '';
    const [{ id }] = (await running.api('GET', '/tokens', { token: running.session.token })).body.items.slice(-1);
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    expect(await redeem(form)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('is let in by people who make tokens, and for no more than they may do', async () => {
    const { page } = await begin();
    const viewer = await joinAccount(running, running.session, 'viewer');
    expect((await agree(page, viewer)).status).toBe(403);
    const admin = await joinAccount(running, running.session, 'admin');
    expect((await agree(page, admin, { role: 'billing' })).status).toBe(403);
    expect((await agree(page, admin, { role: 'admin' })).status).toBe(201);
  });

  it('gets nothing by a code that is wrong, used, expired, of another client, or not its own', async () => {
    const { kept, page } = await begin();
    const code = returnedTo(await agree(page, running.session)).get('code') ?? '';
    const right = {
      code,
      client_id: page.get('client_id') ?? '',
      code_verifier: kept.verifier ?? '',
      redirect_uri: RETURN_TO,
    };
    const wrong = [
      { code: `${code.slice(0, -1)}${code.endsWith('x') ? 'y' : 'x'}` },
      { client_id: (await begin(newConnector('https://chatgpt.com/connector'))).page.get('client_id') ?? '' },
      { code_verifier: `${kept.verifier}x` },
      { redirect_uri: 'https://claude.ai/other' },
    ];
    for (const one of wrong)
      expect(await redeem({ ...right, ...one })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    // No path takes a code for a token.
    const asToken = await fetch(`${url()}/api/machine/spend`, { headers: { authorization: `Bearer ${code}` } });
    expect(asToken.status).toBe(401);
    const key = apiTokenKey(secretHash(code));
    const { validUntil } = (await findItem(running.stack.table, key)) ?? {};
    const setEnd = (end: unknown) => write(running.stack.table, update(key, 'SET validUntil = :end', null, { end }));
    await setEnd(new Date().toISOString());
    expect(await redeem(right)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await setEnd(validUntil);
    const [first, second] = await Promise.all([redeem(right), redeem(right)]);
    expect([first.status, second.status].sort()).toEqual([200, 400]);
    expect((await redeem(right)).status).toBe(400);
  });

  it('has its codes go only where it registered, and asks for tokens of this server only', async () => {
    const { page } = await begin();
    expect((await agree(page, running.session, { redirectUri: 'https://evil.example/callback' })).status).toBe(400);
    expect((await agree(page, running.session, { clientId: 'x' })).status).toBe(400);
    expect((await agree(page, running.session, { resource: 'https://evil.example/mcp' })).status).toBe(400);
    for (const uri of ['javascript:alert(1)', 'http://evil.example/', 'javascript://localhost/%0aalert(1)'])
      expect((await running.api('POST', '/auth/clients', { body: { redirect_uris: [uri] } })).status).toBe(400);
    // A program on the reader's machine takes the port that is free.
    const local = await begin(newConnector('http://localhost:3118/callback'));
    expect((await agree(local.page, running.session, { redirectUri: 'http://localhost:4000/callback' })).status).toBe(
      201,
    );
    expect((await agree(local.page, running.session, { redirectUri: 'http://localhost:4000/other' })).status).toBe(400);
    expect((await agree(local.page, running.session, { redirectUri: 'http://localhost:99999/callback' })).status).toBe(
      400,
    );
  });
});
