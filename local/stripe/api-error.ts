/** An error response of Stripe. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly type: string;
  readonly code: string | undefined;

  constructor(status: number, type: string, message: string, code?: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }

  get body() {
    return { error: { type: this.type, message: this.message, ...(this.code && { code: this.code }) } };
  }
}

export const invalidRequest = (message: string, code?: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, code);

export const missing = (what: string, id: string): ApiError =>
  new ApiError(404, 'invalid_request_error', `No such ${what}: '${id}'`, 'resource_missing');
