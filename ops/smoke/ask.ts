/** The parts of a response that a smoke test looks at. */
export interface SmokeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

const TIMEOUT_MS = 15_000;

/** @throws Error that names the address, without its query */
export const askJson = async (url: string, init: RequestInit = {}): Promise<SmokeResponse> => {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, json };
  } catch (error) {
    const cause = (error as Error).cause;
    throw new Error(`${url.split('?')[0]}: ${cause instanceof Error ? cause.message : (error as Error).message}`);
  }
};
