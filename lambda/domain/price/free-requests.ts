import { type Dialect, dialectOf, WEBSOCKET } from '../usage/dialect.ts';
import { MAX_PATH_CHARACTERS } from '../usage/limits.ts';

interface RequestLine {
  readonly provider: string;
  /** In upper case, or WEBSOCKET. */
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly dialect: Dialect;
}

/** OpenAI's conversations only store messages; at Mistral the same path makes responses. Matches no dots, and no path that was cut. */
const OPENAI_CONVERSATIONS = /^\/v\d+\/conversations(\/[\w-]{1,64}){0,3}\/?$/;

/** True for a request that its provider does not charge for, whatever it responds. */
export const isFreeRequest = ({ provider, path, dialect }: Omit<RequestLine, 'method'>): boolean =>
  dialect === 'free' ||
  (provider === 'openai' && (dialect === 'openai-moderations' || OPENAI_CONVERSATIONS.test(path)));

const CANCEL = /\/(responses|interactions)\/[^/]+\/cancel\/?$/;
/** Free by itself: the cost comes with the results. */
const BATCH =
  /\/(batches|batch\/jobs)\/?$|\/batches\/[^/]+\/requests\/?$|:(batchGenerateContent|asyncBatchEmbedContent)$/;

/** True for a request that makes no cost: a free one, or one that reads or ends what another request started. */
export const startsNothing = (request: Omit<RequestLine, 'dialect'>): boolean => {
  const { method, path } = request;
  if (method !== 'POST') return method !== WEBSOCKET;
  // Where a path that was cut ends is not known.
  if (path.length >= MAX_PATH_CHARACTERS) return false;
  return CANCEL.test(path) || (!BATCH.test(path) && isFreeRequest({ ...request, dialect: dialectOf(method, path) }));
};
