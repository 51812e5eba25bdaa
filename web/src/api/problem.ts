const BLOCKED = 'Your browser blocks cookies and site data here. Allow them for this site, then try again.';

/** Why a browser stores nothing; undefined for other errors. */
export const blockedStorage = (error: unknown): string | undefined =>
  error instanceof DOMException && /^(Security|QuotaExceeded)Error$/.test(error.name) ? BLOCKED : undefined;

/** Why a request failed, for display. */
export interface Problem {
  /** The API's code; `NETWORK` without a connection, `LATE` without a response, `BLOCKED` where nothing is stored, else `UNEXPECTED`. */
  readonly code: string;
  readonly message: string;
  /** For bug reports. */
  readonly requestId: string | undefined;
  /** Before it, another attempt is refused too. Undefined where the API names no time. */
  readonly retryAtMs: number | undefined;
  /** Messages on single fields, where the API has them. */
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Why the API refuses what was sent, a password or a code of the second factor: its own texts are for programs. */
const REFUSALS: Readonly<Record<string, string>> = {
  VALIDATION_ERROR: 'A value is not valid.',
  INVALID_CREDENTIALS: 'The password is wrong.',
  TOTP_REQUIRED: 'Enter the code that your authenticator app shows now.',
};

/** The problem behind a failed query or mutation: the API's error body, a proxy's error page, or a network error. */
export const problemOf = (error: unknown): Problem => {
  const { code, message, requestId, retryAtMs, details } = record(record(error)['error']);
  if (text(code) && text(message)) {
    return {
      code: code as string,
      message: REFUSALS[code as string] ?? (message as string),
      requestId: text(requestId),
      retryAtMs: typeof retryAtMs === 'number' ? retryAtMs : undefined,
      details: (Array.isArray(details) ? details : []).map(record).flatMap((detail) => {
        const [path, why] = [text(detail['path']), text(detail['message'])];
        return path && why ? [{ path, message: why }] : [];
      }),
    };
  }
  const unknown = { requestId: undefined, retryAtMs: undefined, details: [] };
  const blocked = blockedStorage(error);
  if (blocked) return { ...unknown, code: 'BLOCKED', message: blocked };
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return { ...unknown, code: 'LATE', message: 'The API did not respond in time.' };
  return error instanceof TypeError
    ? { ...unknown, code: 'NETWORK', message: 'The API cannot be reached.' }
    : { ...unknown, code: 'UNEXPECTED', message: 'The API sent an unexpected response.' };
};

/** Those messages, each with its field, but for those that stand at their fields. */
export const detailsOf = (error: unknown, hasField: (path: string) => boolean = () => false): string[] =>
  problemOf(error).details.flatMap(({ path, message }) => (hasField(path) ? [] : [`${path} ${message}`]));

/** True where the second factor is missing or wrong. */
export const lacksTotp = (error: unknown): boolean => problemOf(error).code === 'TOTP_REQUIRED';

const TEMPORARY = new Set(['NETWORK', 'LATE', 'UNEXPECTED', 'INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED']);

/** True where a retry may succeed. */
export const isTemporary = (error: unknown): boolean => TEMPORARY.has(problemOf(error).code);

/** How long the API wants to be left alone, in ms. */
export const waitMs = (error: unknown): number => Math.max(0, (problemOf(error).retryAtMs ?? 0) - Date.now());
