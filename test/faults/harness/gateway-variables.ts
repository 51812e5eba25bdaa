/** Name of the secret that both harnesses' gateways make fingerprints with. */
export const FINGERPRINT_SECRET = 'fingerprint-key';

/** A harness's gateway: no time-out of its own strikes, however long the machine stands still. The caller adds where AWS stands. */
export const gatewayVariables = (origin: string, openEventDelaySeconds: number): Record<string, string> => ({
  GATEWAY_DOMAIN: 'gateway.test',
  FINGERPRINT_SECRET_ID: FINGERPRINT_SECRET,
  OPEN_EVENT_DELAY_SECONDS: String(openEventDelaySeconds),
  CONNECT_TIMEOUT_MS: '60000',
  HEADERS_TIMEOUT_MS: '60000',
  IDLE_TIMEOUT_MS: '60000',
  UPSTREAM_ORIGINS: JSON.stringify({ openai: origin }),
});
