export interface Emulator {
  /** `http://127.0.0.1:PORT`, for AWS_ENDPOINT_URL_* */
  readonly endpoint: string;
  readonly port: number;
  /** Ends it; the data stays. */
  stop(): Promise<void>;
}
