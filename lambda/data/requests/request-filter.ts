import { modelOf, type RequestRecord } from '../../domain/spend/request-record.ts';

/** Filters of the request log. A missing member lets all requests pass; null selects requests without a value. */
export interface RequestFilter {
  readonly provider?: string | undefined;
  /** Compared with the billed model: see modelOf. */
  readonly model?: string | null | undefined;
  readonly tag?: string | null | undefined;
  readonly keyId?: string | null | undefined;
  readonly providerKey?: string | null | undefined;
  readonly outcome?: string | undefined;
  readonly provenance?: string | undefined;
  readonly status?: number | null | undefined;
  readonly client?: string | null | undefined;
  /** Id of the session. */
  readonly session?: string | null | undefined;
  /** Id of the agent; null selects requests of the main agent, and those without a session. */
  readonly agent?: string | null | undefined;
  /** Pairs as `name:value`, all of which the request must have; an empty value selects requests without that name. */
  readonly metadata?: readonly string[] | undefined;
  /** A part of the model, tag, client, path, or of the session's or request's id, in any case. */
  readonly contains?: string | undefined;
}

/** A name may contain a colon too, so pairs are compared as a whole. */
const hasPair = ({ metadata }: RequestRecord, pair: string): boolean =>
  Object.entries(metadata).some(([name, value]) => `${name}:${value}` === pair) ||
  (pair.endsWith(':') && !Object.hasOwn(metadata, pair.slice(0, -1)));

const hasPart = (record: RequestRecord, lowerCase: string): boolean =>
  [modelOf(record), record.tag, record.client, record.path, record.session?.id, record.requestId].some((text) =>
    text?.toLowerCase().includes(lowerCase),
  );

export const passes = (record: RequestRecord, { metadata = [], contains, ...filter }: RequestFilter): boolean => {
  const values: Record<keyof typeof filter, unknown> = {
    provider: record.provider,
    model: modelOf(record),
    tag: record.tag,
    keyId: record.keyId,
    providerKey: record.providerKey,
    outcome: record.outcome,
    provenance: record.provenance,
    status: record.status,
    client: record.client,
    session: record.session?.id ?? null,
    agent: record.session?.agentId ?? null,
  };
  return (
    Object.entries(filter).every(
      ([name, wanted]) => wanted === undefined || values[name as keyof typeof filter] === wanted,
    ) &&
    metadata.every((pair) => hasPair(record, pair)) &&
    (contains === undefined || hasPart(record, contains.toLowerCase()))
  );
};

export const isFiltered = (filter: RequestFilter): boolean =>
  Object.values(filter).some((wanted) => wanted !== undefined);
