/** What went wrong with a request, for people. */
export interface Problem {
  /** The API's code; `NETWORK` where there was no answer, `UNEXPECTED` where it was none of the API's. */
  readonly code: string;
  readonly message: string;
  /** To quote when reporting it. */
  readonly requestId: string | undefined;
  /** By field, where the API says which. */
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads whatever a query or mutation failed with: the API's error body, a proxy's page, or a broken connection. */
export const problemOf = (error: unknown): Problem => {
  const { code, message, requestId, details } = record(record(error)['error']);
  if (text(code) && text(message)) {
    return {
      code: code as string,
      message: message as string,
      requestId: text(requestId),
      details: (Array.isArray(details) ? details : []).map(record).flatMap((detail) => {
        const [path, why] = [text(detail['path']), text(detail['message'])];
        return path && why ? [{ path, message: why }] : [];
      }),
    };
  }
  return error instanceof TypeError
    ? { code: 'NETWORK', message: 'The API cannot be reached.', requestId: undefined, details: [] }
    : {
        code: 'UNEXPECTED',
        message: 'The API gave an answer that makes no sense here.',
        requestId: undefined,
        details: [],
      };
};

const TEMPORARY = new Set(['NETWORK', 'UNEXPECTED', 'INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED']);

/** True where the same request may succeed a little later. */
export const isTemporary = (error: unknown): boolean => TEMPORARY.has(problemOf(error).code);
