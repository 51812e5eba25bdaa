/** An answer as far as a smoke test looks at it. */
export interface SmokeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

const TIMEOUT_MS = 15_000;

/** @throws Error that names the address, without its query */
export const askJson = async (url: string, init: RequestInit = {}): Promise<SmokeAnswer> => {
  try {
    const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: answer.status, headers: answer.headers, json };
  } catch (error) {
    const cause = (error as Error).cause;
    throw new Error(`${url.split('?')[0]}: ${cause instanceof Error ? cause.message : (error as Error).message}`);
  }
};
