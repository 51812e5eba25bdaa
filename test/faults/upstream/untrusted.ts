import { createPrivateKey, X509Certificate } from 'node:crypto';

/* A certificate for 127.0.0.1 that signed itself, which nobody trusts. Of no use but to be refused. */
const CERTIFICATE =
  'MIIBkDCCATagAwIBAgIUCSyQyvg3GGLFt5aK9XjBA3cd43cwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDE3Mjk1OVoYDzIxMjYxMDI3MTcyOTU5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARrEPAt4w5u48gwKXk9kW3jyo/8LXo1N4YKiGPOqJoRIaTzz0q2Hm2QgCCU1mcCaciqQMXP9F4rBqrxOf6u46axo2QwYjAdBgNVHQ4EFgQUm6jJ+d5SggZtwitYxDRBwFdaHtswHwYDVR0jBBgwFoAUm6jJ+d5SggZtwitYxDRBwFdaHtswDwYDVR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUCIEESpB8xiclMN0zOCeqSXQCpkP7FVv6Mp4oXoKsuD8gjAiEA4DNH3VHVJPSLfohB4BjNQMlZqJp13pc/tE8+uFex8HA=';
const KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXjIUbhYmcH44bHsC/lbWFlkOq3lxItJ1/fGStEAesMihRANCAARrEPAt4w5u48gwKXk9kW3jyo/8LXo1N4YKiGPOqJoRIaTzz0q2Hm2QgCCU1mcCaciqQMXP9F4rBqrxOf6u46ax';

export const untrusted = {
  cert: new X509Certificate(Buffer.from(CERTIFICATE, 'base64')).toString(),
  key: createPrivateKey({ key: Buffer.from(KEY, 'base64'), format: 'der', type: 'pkcs8' }).export({
    format: 'pem',
    type: 'pkcs8',
  }),
};
