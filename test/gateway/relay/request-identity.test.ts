import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { providers } from '../../../lambda/domain/providers.ts';
import { openEventSchema } from '../../../lambda/domain/usage/usage-event.ts';
import type { Admitted } from '../../../lambda/gateway/admission/admit.ts';
import type { GatewayRequest } from '../../../lambda/gateway/protocol/client.ts';
import { headersByName } from '../../../lambda/gateway/protocol/headers.ts';
import { clients } from '../../../lambda/gateway/relay/clients.ts';
import { readTag, requestIdentity } from '../../../lambda/gateway/relay/request-identity.ts';
import { ACTIVE } from '../gateway-fakes.ts';

const ID = '01a00000-0000-7000-8000-000000000000';
const admitted: Admitted = { provider: providers[0]!, serviceKey: 'svc_x', credential: 'sk', owner: ACTIVE };
const request = (method: string): GatewayRequest => ({
  method,
  host: 'openai.gateway.test',
  target: '/not-this?secret',
  headers: ['X-Service-Tag', ' nightly '],
  body: null,
});

describe('the members that both events share', () => {
  it('name request, owner and provider', () => {
    expect(requestIdentity(request('GET'), admitted, ID, '/v1/models')).toEqual({
      version: 1,
      requestId: ID,
      accountId: 'account-1',
      keyId: 'key-1',
      provider: 'openai',
      tag: 'nightly',
      tagTruncated: false,
      method: 'GET',
      path: '/v1/models',
      startedAt: new Date(0x01a000000000).toISOString(),
    });
  });

  it.each([
    [`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, `${'a'.repeat(32)}-${'b'.repeat(16)}`],
    [`cc-${'a'.repeat(32)}-${'b'.repeat(16)}-01-later`, `${'a'.repeat(32)}-${'b'.repeat(16)}`],
    [`00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, undefined],
    [`00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`, undefined],
    [`00-${'A'.repeat(32)}-${'b'.repeat(16)}-01`, undefined],
    ['', undefined],
  ])('have the trace of the client where it names one: %s', (traceparent, trace) => {
    const sent = { ...request('GET'), headers: ['Traceparent', traceparent] };
    expect(requestIdentity(sent, admitted, ID, '/').trace).toBe(trace);
  });

  it('have the hash of a key whose owner is not known', () => {
    expect(requestIdentity(request('GET'), { ...admitted, owner: null }, ID, '/')).toMatchObject({
      accountId: null,
      keyId: null,
      unverifiedKeyHash: secretHash('svc_x'),
    });
  });

  it('are bounded', () => {
    const { method, path } = requestIdentity(request('M'.repeat(33)), admitted, ID, `/${'p'.repeat(5_000)}`);
    expect(method).toBe('M'.repeat(32));
    expect(path.length).toBeLessThan(5_000);
  });
});

describe('the kind of the credential', () => {
  const jwt = `eyJ${'x'.repeat(600)}`;
  it.each([
    ['anthropic', 'sk-ant-oat01-abc', 'subscription'],
    ['anthropic', 'sk-ant-api03-abc', undefined],
    ['openai', jwt, 'subscription'],
    ['openai', 'sk-proj-abc', undefined],
    // A JWT is an ordinary credential elsewhere, as with Google.
    ['google', jwt, undefined],
    ['openrouter', 'sk-ant-oat01-abc', undefined],
  ])('of %s for %.16s… is %s, and the token is in no event', (label, credential, kind) => {
    const provider = providers.find((each) => each.label === label) as Admitted['provider'];
    const identity = requestIdentity(request('POST'), { ...admitted, provider, credential }, ID, '/v1/messages');
    expect(identity.credentialKind).toBe(kind);
    expect(JSON.stringify(identity)).not.toContain(credential);
    expect(openEventSchema.parse({ ...identity, kind: 'open', providerKey: null }).credentialKind).toBe(kind);
  });
});

describe('a tag', () => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');

  it.each([
    ['a', 'a', false],
    [' ~ a ', '~ a', false],
    ['a\tb', 'a\tb', false],
    ['x'.repeat(64), 'x'.repeat(64), false],
    ['x'.repeat(65), 'x'.repeat(64), true],
    [bytes('é'.repeat(64)), 'é'.repeat(64), false],
    [bytes('👋'.repeat(65)), '👋'.repeat(64), true],
    ['caf\xe9', 'caf\ufffd', true],
    // The client itself sent U+FFFD.
    [bytes('caf\ufffd'), 'caf\ufffd', false],
    ['', null, false],
    [' \t ', null, false],
  ])('%j is stored as %j', (value, tag, tagTruncated) => {
    expect(readTag(headersByName(['Other', 'x', 'X-Service-TAG', value]))).toEqual({ tag, tagTruncated });
  });

  it('is none without the header', () => {
    expect(readTag(new Map())).toEqual({ tag: null, tagTruncated: false });
  });

  it.each([
    ['nightly', 'nightly', false],
    [' , nightly , ', 'nightly', false],
    ['nightly,prod', 'nightly', true],
    [' , ', null, false],
    ['x'.repeat(65), 'x'.repeat(64), true],
  ])('is the first of LiteLLM’s list %j: %j', (value, tag, tagTruncated) => {
    expect(readTag(headersByName(['X-LiteLLM-Tags', value]))).toEqual({ tag, tagTruncated });
    expect(readTag(headersByName(['X-LiteLLM-Tags', value, 'X-Service-Tag', 'own']))).toEqual({
      tag: 'own',
      tagTruncated: false,
    });
  });
});

/** What the events say about where the spend of a request with these headers belongs. */
const belonging = (headers: string[]) => {
  const identity = requestIdentity({ ...request('POST'), headers }, admitted, ID, '/');
  const event = openEventSchema.parse({ ...identity, kind: 'open', providerKey: null });
  // The schema of events accepts all that the gateway sends.
  expect(event).toMatchObject(identity);
  const { metadata, metadataTruncated, client, session } = event;
  return { metadata, metadataTruncated, client, session };
};
const metadataOf = (...headers: string[]) => {
  const { metadata, metadataTruncated = false } = belonging(headers);
  return [metadata, metadataTruncated];
};
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const own = (json: unknown): [string, string] => ['X-Service-Metadata', utf8(JSON.stringify(json))];
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'v']));

describe('metadata', () => {
  it('is none without a header', () => {
    expect(metadataOf('Accept', '*/*')).toEqual([undefined, false]);
    expect(Object.keys(requestIdentity(request('GET'), admitted, ID, '/'))).not.toContain('metadata');
  });

  it.each([
    ['names and values', own({ team: 'search', env: 'prod' }), { team: 'search', env: 'prod' }, false],
    ['text that is not ASCII', own({ équipe: '検索' }), { équipe: '検索' }, false],
    ['the most pairs', own(names(10)), names(10), false],
    ['a pair too many', own(names(11)), names(10), true],
    [
      'the longest name and value',
      own({ ['é'.repeat(64)]: '👋'.repeat(64) }),
      { ['é'.repeat(64)]: '👋'.repeat(64) },
      false,
    ],
    ['a name that is too long', own({ ['n'.repeat(65)]: 'v' }), { ['n'.repeat(64)]: 'v' }, true],
    ['a value that is too long', own({ n: '👋'.repeat(65) }), { n: '👋'.repeat(64) }, true],
    [
      'two names that are one when cut',
      own({ ['n'.repeat(65)]: '1', ['n'.repeat(66)]: '2' }),
      { ['n'.repeat(64)]: '1' },
      true,
    ],
    [
      'numbers, with all digits',
      ['X-Service-Metadata', '{"id":12345678901234567890,"share":0.10}'],
      { id: '12345678901234567890', share: '0.10' },
      false,
    ],
    ['booleans', own({ beta: false }), { beta: 'false' }, false],
    ['white space around', own({ ' team ': ' search ' }), { team: 'search' }, false],
    ['null and empty values', own({ team: null, env: '', region: 'eu' }), { region: 'eu' }, false],
    ['only null', own({ team: null }), undefined, false],
    ['an object as a value', own({ team: { name: 'search' }, env: 'prod' }), { env: 'prod' }, true],
    ['a list as a value', own({ team: ['search'] }), undefined, true],
    ['an empty name', own({ '': 'v', ' ': 'v' }), undefined, true],
    [
      'names of members of every object',
      own({ constructor: 'c', toString: 't' }),
      { constructor: 'c', toString: 't' },
      false,
    ],
    ['the name __proto__', ['X-Service-Metadata', '{"__proto__":"p","a":"b"}'], { a: 'b' }, true],
    ['control characters', own({ 'a\nb': 'c\u0000d' }), { 'a\ufffdb': 'c\ufffdd' }, true],
    ['a lone surrogate', ['X-Service-Metadata', '{"a":"\\ud800"}'], { a: '\ufffd' }, true],
    ['bytes that are not UTF-8', ['X-Service-Metadata', '{"a":"caf\xe9"}'], { a: 'caf\ufffd' }, true],
    ['bytes of Helicone that are not UTF-8', ['Helicone-Property-A', 'caf\xe9'], { a: 'caf\ufffd' }, true],
    ['no JSON', ['X-Service-Metadata', 'team=search'], undefined, true],
    ['a list', own(['team']), undefined, true],
    ['a text', own('team'), undefined, true],
    ['null', own(null), undefined, true],
    ['nothing', ['X-Service-Metadata', ' '], undefined, false],
    ['an empty object', own({}), undefined, false],
    ['a header that is far too long', own({ a: 'x'.repeat(20_000) }), undefined, true],
    ['two headers', [...own({ a: '1' }), ...own({ b: '2' })], { a: '1', b: '2' }, false],
  ] as [string, string[], Record<string, string> | undefined, boolean][])(
    'with %s',
    (_, headers, metadata, truncated) => {
      expect(metadataOf(...headers)).toEqual([metadata, truncated]);
    },
  );

  it.each([
    ['Cloudflare', ['cf-aig-metadata', '{"team":"search","user":7}'], { team: 'search', user: '7' }],
    ['Portkey', ['x-portkey-metadata', '{"_user":"ada","env":"prod"}'], { _user: 'ada', env: 'prod' }],
    [
      'Helicone',
      ['Helicone-Property-Team', ' search ', 'HELICONE-PROPERTY-Env', 'prod'],
      { team: 'search', env: 'prod' },
    ],
    ['Helicone, a user', ['Helicone-User-Id', 'ada@example.com'], { user: 'ada@example.com' }],
  ])('is read from the headers for %s', (_, headers, metadata) => {
    expect(metadataOf(...headers)).toEqual([metadata, false]);
  });

  it('has the hash of an end user’s id that is long or not printable', () => {
    const hash = expect.stringMatching(/^sha256:[0-9a-f]{32}$/);
    const [long] = metadataOf('Helicone-User-Id', 'u'.repeat(65));
    expect(long).toEqual({ user: hash });
    expect(metadataOf('Helicone-User-Id', 'u'.repeat(66))[0]).not.toEqual(long);
    expect(metadataOf('Helicone-User-Id', utf8('Zoë'))).toEqual([{ user: hash }, false]);
  });

  it('counts our own header first, and notes another value', () => {
    const other = ['cf-aig-metadata', '{"team":"ads","env":"prod"}', 'Helicone-Property-Team', 'search'];
    expect(metadataOf(...other, ...own({ team: 'search' }))).toEqual([{ team: 'search', env: 'prod' }, true]);
    expect(metadataOf('Helicone-Property-Team', 'search', ...own({ team: 'search' }))).toEqual([
      { team: 'search' },
      false,
    ]);
  });

  it('fits every header that a client may send', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...metadataHeaders), headerBytes)), (pairs) => {
        belonging(pairs.flat());
      }),
    );
  });
});

const metadataHeaders = [
  'X-Service-Metadata',
  'cf-aig-metadata',
  'x-portkey-metadata',
  'Helicone-Property-A',
  'Helicone-Property-',
  'Helicone-User-Id',
  'X-Service-Session',
  'x-litellm-tags',
  'session-id',
  'user-agent',
];
const headerBytes = fc.oneof(
  fc.json().map(utf8),
  fc
    .dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), fc.double()))
    .map((each) => utf8(JSON.stringify(each))),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
);

describe('the client', () => {
  it.each([
    ['claude-cli/2.1.197 (external, sdk-cli)', 'claude-code'],
    ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.169.0)', 'codex'],
    ['codex_cli_rs/0.46.0', 'codex'],
    ['opencode/1.18.33 (linux; x64) ai-sdk/provider-utils/4.0.40 runtime/bun/1.3.14', 'opencode'],
    ['GeminiCLI-tui/0.61.0/gemini-3.1-pro-preview (linux; x64; terminal)', 'gemini-cli'],
    ['QwenCode/0.15.10 (linux; x64)', 'qwen-code'],
    ['opencode2/2.0.1 (linux; x64) ai-sdk/provider-utils/5.0.81', 'opencode'],
    ['roo-code/3.54.0 (darwin 25.0.0; arm64) node/22.0.0', 'roo-code'],
    ['Charm-Crush/v0.97.1 (https://charm.land/crush)', 'crush'],
    ['Mistral-Vibe/2.25.8', 'mistral-vibe'],
    ['Zed/0.210.0 (macos; aarch64)', 'zed'],
    ['langchainjs-openai/1.0.0 ((node/v24.21.0; linux; x64))', 'langchain'],
    ['ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/24', 'vercel-ai-sdk'],
    ['ai-sdk-openai/4.0.118 ai-sdk-provider-utils/5.0.81', 'vercel-ai-sdk'],
    ['mastra/1.71.0 ai-sdk/openai/3.0.88 ai-sdk/provider-utils/4.0.53 runtime/node.js/v24.21.0', 'mastra'],
    ['Agents/JavaScript 0.3.2', 'openai-agents'],
    ['Agents/Python 0.6.1', 'openai-agents'],
    ['factory-cli/0.22.3', 'droid'],
    ['ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30', 'vercel-ai-sdk'],
    ['OpenAI/Python 1.102.0', 'openai-python'],
    ['AsyncAzureOpenAI/Python 1.102.0', 'openai-python'],
    ['OpenAI/JS 6.49.0', 'openai-js'],
    ['OpenAIClientAsyncImpl/Java 3.0.0', 'openai-java'],
    ['OpenAI::Client/Ruby 0.1.0', 'openai-ruby'],
    ['OpenAI/2.2.0 (.NET 9.0.4; Ubuntu 24.04)', 'openai-dotnet'],
    ['Anthropic/Go 1.20.0', 'anthropic-go'],
    ['AnthropicClientImpl/Java 2.52.0', 'anthropic-java'],
    ['Anthropic::Client/Ruby 1.0.0', 'anthropic-ruby'],
    ['AnthropicClient/C# 12.0.0', 'anthropic-dotnet'],
    ['google-genai-sdk/1.72.0 gl-go/go1.28', 'google-genai-go'],
    ['Perplexity/JS 0.38.5', 'perplexity-js'],
    ['AsyncPerplexity/Python 0.38.5', 'perplexity-python'],
    ['speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk', 'openrouter-js'],
    ['speakeasy-sdk/typescript 0.5.10 2.541.0 2024-04-01 @gusto/embedded-api', undefined],
    ['AsyncAnthropic/Python 0.60.0', 'anthropic-python'],
    ['Anthropic/JS 1.12.0', 'anthropic-js'],
    ['AnthropicBedrock/JS 1.14.0', 'anthropic-js'],
    ['AsyncAnthropicVertex/Python 0.60.0', 'anthropic-python'],
    ['aws-sdk-js/3.1163.0 ua/2.1 os/linux#6.18 lang/js md/nodejs#24.21.0 api/bedrock-runtime#3.1163.0', 'aws-sdk-js'],
    ['Boto3/1.42.0 md/Botocore#1.42.0', 'boto3'],
    ['google-genai-sdk/2.32.0 gl-node/v24.21.0', 'google-genai-js'],
    ['google-genai-sdk/1.30.0 gl-python/3.12.1', 'google-genai-python'],
    ['Groq/JS 1.6.0', 'groq-js'],
    ['Together/JS 0.52.0', 'together-js'],
    ['mistral-client-typescript/2.7.0', 'mistral-js'],
    ['cohere-ai/8.1.0', 'cohere-js'],
    ['curl/7.88.1', 'curl'],
    ['python-requests/2.34.2', 'python-requests'],
    ['Python/3.12 aiohttp/3.9.1', 'python-aiohttp'],
    ['node', 'node-fetch'],
    ['Mozilla/5.0 (X11; Linux x86_64)', undefined],
    ['my-service/1.0', undefined],
    ['openair/1.0', undefined],
    ['nodemon/1.0', undefined],
    ['', undefined],
  ])('%j is %j', (userAgent, client) => {
    expect(belonging(['user-agent', userAgent])).toMatchObject({ client });
  });

  it.each([
    ['opencode/7.7.7 (linux; x64) ai-sdk/provider-utils/4.0.40', ['x-title', 'Kilo Code'], 'kilo-code'],
    ['Kilo-Code/4.1.0', ['x-title', 'Kilo Code'], 'kilo-code'],
    ['opencode/1.18.33 (linux; x64)', ['x-title', 'opencode'], 'opencode'],
    ['OpenAI/JS 5.20.1', ['x-initiator', 'user', 'x-interaction-type', 'conversation-user'], 'copilot-cli'],
    ['OpenAI/JS 5.20.1', ['x-interaction-type', ''], 'openai-js'],
    ['node', ['x-goog-api-client', 'genkit-node/1.42.0 gl-node/24.21.0'], 'genkit'],
    ['Bun/1.4.5', ['x-goog-api-client', 'genkit-node/1.42.0 gl-node/24.21.0'], 'genkit'],
    ['node', ['x-goog-api-client', 'gl-node/24.21.0'], 'node-fetch'],
  ])('%j with %j is %j', (userAgent, mark, client) => {
    expect(belonging(['user-agent', userAgent, ...mark])).toMatchObject({ client });
  });

  it("reads the session that opencode's fork sends", () => {
    const headers = ['user-agent', 'opencode/7.7.7', 'x-title', 'Kilo Code', 'session-id', 'ses_1'];
    expect(belonging(headers)).toMatchObject({ session: { id: 'ses_1' } });
  });

  it('is none without a User-Agent', () => {
    expect(belonging([])).toMatchObject({ client: undefined });
  });

  it('has a row of its own in the table', () => {
    expect(new Set(clients.map(({ name }) => name)).size).toBe(clients.length);
  });
});

describe('the session', () => {
  const claudeCode = (...headers: string[]) => belonging(['User-Agent', 'claude-cli/2.1.197', ...headers]).session;
  const codex = (...headers: string[]) => belonging(['user-agent', 'codex_exec/0.169.0', ...headers]).session;
  const opencode = (...headers: string[]) => belonging(['User-Agent', 'opencode/1.18.33', ...headers]).session;

  it('is none without a header, and none where the header is empty', () => {
    expect(claudeCode()).toBeUndefined();
    expect(claudeCode('X-Claude-Code-Session-Id', ' ')).toBeUndefined();
  });

  it('is Claude Code’s, with agent and parent agent', () => {
    const main = ['X-Claude-Code-Session-Id', 's1'];
    const agent = [...main, 'X-Claude-Code-Agent-Id', 'a2'];
    expect(claudeCode(...main)).toEqual({ id: 's1' });
    expect(claudeCode(...agent)).toEqual({ id: 's1', agentId: 'a2' });
    expect(claudeCode(...agent, 'x-claude-code-parent-agent-id', 'a1')).toEqual({
      ...{ id: 's1', agentId: 'a2', parentAgentId: 'a1' },
    });
    for (const parent of ['s1', 'a2'])
      expect(claudeCode(...agent, 'x-claude-code-parent-agent-id', parent)).toEqual({ id: 's1', agentId: 'a2' });
    expect(claudeCode('x-claude-code-agent-id', 'a2')).toBeUndefined();
  });

  it('is Codex’s: the main thread has its id, other threads are agents', () => {
    const turn = (json: object): [string, string] => ['x-codex-turn-metadata', JSON.stringify(json)];
    expect(codex('session-id', 's1', 'thread-id', 's1')).toEqual({ id: 's1' });
    expect(codex('session-id', 's1', 'thread-id', 't2', 'x-codex-parent-thread-id', 's1')).toEqual({
      ...{ id: 's1', agentId: 't2' },
    });
    const nested = { id: 's1', agentId: 't3', parentAgentId: 't2' };
    expect(codex('session-id', 's1', 'thread-id', 't3', 'x-codex-parent-thread-id', 't2')).toEqual(nested);
    expect(codex('session-id', 's1', 'thread-id', 't3', ...turn({ parent_thread_id: 't2' }))).toEqual(nested);
    expect(codex(...turn({ session_id: 's1', thread_id: 't3', parent_thread_id: 't2' }))).toEqual(nested);
    expect(codex(...turn({ session_id: 1, thread_id: null }))).toBeUndefined();
    expect(codex('x-codex-turn-metadata', '{"session_id":')).toBeUndefined();
    expect(codex('x-codex-turn-metadata', 'null')).toBeUndefined();
  });

  it('is opencode’s: an agent’s session belongs to the one that started it', () => {
    expect(opencode('session-id', 'ses_1', 'x-session-affinity', 'ses_1')).toEqual({ id: 'ses_1' });
    expect(opencode('X-Session-Id', 'ses_2')).toEqual({ id: 'ses_2' });
    expect(opencode('x-session-affinity', 'ses_2', 'x-parent-session-id', 'ses_1')).toEqual({
      ...{ id: 'ses_1', agentId: 'ses_2' },
    });
  });

  it('is Mastra’s thread, also where it shows as what it is built on', () => {
    for (const userAgent of ['mastra/1.71.0 ai-sdk/openai/3.0.88', 'ai-sdk/openai-compatible/2.0.62'])
      expect(belonging(['user-agent', userAgent, 'x-thread-id', 't1', 'x-resource-id', 'u1']).session).toEqual({
        id: 't1',
      });
  });

  it('is not read from headers of clients that are not known to send them', () => {
    expect(belonging(['user-agent', 'OpenAI/JS 6.49.0', 'session-id', 's1']).session).toBeUndefined();
  });

  it('is the one that any client names, with the client’s own agents', () => {
    expect(belonging(['X-Service-Session', ' ticket 7 ']).session).toEqual({ id: 'ticket 7' });
    expect(
      claudeCode('X-Claude-Code-Session-Id', 's1', 'X-Service-Session', 't', 'x-claude-code-agent-id', 'a'),
    ).toEqual({
      ...{ id: 't', agentId: 'a' },
    });
    expect(codex('session-id', 's1', 'thread-id', 's1', 'X-Service-Session', 't')).toEqual({ id: 't' });
  });

  it('may be Helicone’s', () => {
    expect(belonging(['Helicone-Session-Id', 'h1']).session).toEqual({ id: 'h1' });
    expect(belonging(['Helicone-Session-Id', 'h1', 'X-Service-Session', 't']).session).toEqual({ id: 't' });
    expect(claudeCode('X-Claude-Code-Session-Id', 's1', 'Helicone-Session-Id', 'h1')).toEqual({ id: 's1' });
  });

  it('is stored as given only if it is short and printable, else hashed', () => {
    const session = (id: string) => belonging(['X-Service-Session', id]).session?.id;
    expect(session('x'.repeat(64))).toBe('x'.repeat(64));
    expect(session('x'.repeat(65))).toMatch(/^sha256:[0-9a-f]{32}$/);
    expect(session('x'.repeat(65))).not.toBe(session('x'.repeat(66)));
    expect(session(utf8('é'))).toMatch(/^sha256:/);
    expect(session('a\tb')).toMatch(/^sha256:/);
  });
});
