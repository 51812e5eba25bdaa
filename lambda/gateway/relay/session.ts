import { createHash } from 'node:crypto';
import { MAX_SESSION_ID_CHARACTERS } from '../../domain/usage/limits.ts';
import type { Session } from '../../domain/usage/usage-event.ts';

type Headers = ReadonlyMap<string, string>;

const STORABLE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_SESSION_ID_CHARACTERS}}$`);
const HASH_CHARACTERS = 32;
/** Codex writes a few hundred. */
const MAX_JSON_CHARACTERS = 16_384;

/** An id of a session, an agent or an end user: as given if it is short and printable, else its hash. */
export const storableId = (value: string): string => {
  const id = value.trim();
  if (STORABLE.test(id)) return id;
  return `sha256:${createHash('sha256').update(id, 'latin1').digest('hex').slice(0, HASH_CHARACTERS)}`;
};

/** Ids as a client sent them; undefined or empty ones were not sent. */
interface SentIds {
  readonly id: string | undefined;
  readonly agentId?: string | undefined;
  readonly parentAgentId?: string | undefined;
}

/** The ids that a client sends by itself. */
export type ReadSession = (headers: Headers) => SentIds;

/** Its agents share the session's id. Requests of the main agent have no agent id. @see https://code.claude.com/docs/en/llm-gateway-protocol */
export const claudeCodeSession: ReadSession = (headers) => ({
  id: headers.get('x-claude-code-session-id'),
  agentId: headers.get('x-claude-code-agent-id'),
  parentAgentId: headers.get('x-claude-code-parent-agent-id'),
});

const turnMetadataOf = (headers: Headers): Readonly<Record<string, unknown>> => {
  const text = headers.get('x-codex-turn-metadata');
  if (!text || text.length > MAX_JSON_CHARACTERS) return {};
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Each agent is a thread. The main thread has the session's id. @see https://github.com/openai/codex (codex-rs/core/src/responses_metadata.rs) */
export const codexSession: ReadSession = (headers) => {
  const [session, thread] = [headers.get('session-id'), headers.get('thread-id')];
  const parent = headers.get('x-codex-parent-thread-id');
  if (session && (thread === session || parent)) return { id: session, agentId: thread, parentAgentId: parent };
  const turn = turnMetadataOf(headers);
  return {
    id: session ?? textOf(turn['session_id']),
    agentId: thread ?? textOf(turn['thread_id']),
    parentAgentId: parent ?? textOf(turn['parent_thread_id']),
  };
};

/** Each agent has a session of its own and names the session that started it. */
export const opencodeSession: ReadSession = (headers) => {
  const id = headers.get('session-id') ?? headers.get('x-session-id') ?? headers.get('x-session-affinity');
  const parent = headers.get('x-parent-session-id');
  return parent ? { id: parent, agentId: id } : { id };
};

/** Its threads. @see https://github.com/mastra-ai/mastra (packages/core/src/loop/shared/merge-llm-call-headers.ts) */
export const mastraSession: ReadSession = (headers) => ({ id: headers.get('x-thread-id') });

/** Helicone's, which any client may send. @see https://docs.helicone.ai/features/sessions */
const heliconeSession: ReadSession = (headers) => ({ id: headers.get('helicone-session-id') });

const idOf = (value: string | undefined): string | undefined => (value?.trim() ? storableId(value) : undefined);

/**
 * The session of a request, and the agent in it. X-Service-Session names the session in any case; agents are the client's own.
 *
 * @param read reads the ids that the client sends by itself; undefined for a client that sends none
 */
export const readSession = (headers: Headers, read: ReadSession | undefined): Session | undefined => {
  const sent = read?.(headers) ?? { id: undefined };
  const own = idOf(sent.id);
  const id = idOf(headers.get('x-service-session')) ?? own ?? idOf(heliconeSession(headers).id);
  if (id === undefined) return undefined;
  // Under the session's own id: the main agent.
  const agentOf = (value: string | undefined): string | undefined => {
    const agentId = idOf(value);
    return agentId === own ? undefined : agentId;
  };
  const agentId = agentOf(sent.agentId);
  if (agentId === undefined) return { id };
  const parentAgentId = agentOf(sent.parentAgentId);
  return { id, agentId, ...(parentAgentId !== undefined && parentAgentId !== agentId && { parentAgentId }) };
};
