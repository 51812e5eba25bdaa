/** Name of the secret that both rigs' gateways make fingerprints with. */
export const FINGERPRINT_SECRET = 'fingerprint-key';

/** A rig's gateway: short of patience with connecting, long of it with answers. The caller adds where AWS stands. */
export const gatewayVariables = (origin: string, openEventDelaySeconds: number): Record<string, string> => ({
  GATEWAY_DOMAIN: 'gateway.test',
  FINGERPRINT_SECRET_ID: FINGERPRINT_SECRET,
  OPEN_EVENT_DELAY_SECONDS: String(openEventDelaySeconds),
  CONNECT_TIMEOUT_MS: '1000',
  HEADERS_TIMEOUT_MS: '60000',
  IDLE_TIMEOUT_MS: '60000',
  UPSTREAM_ORIGINS: JSON.stringify({ openai: origin }),
});
