import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';

const COGNITO_HOST = /^cognito-idp\.[a-z0-9-]+\.amazonaws\.com$/;

/**
 * aws-jwt-verify fetches a pool's public keys from the issuer's address, which the AWS_ENDPOINT_URL_* variables do not
 * change. In this thread `https.request` to Cognito goes to the emulator instead, so that handlers need no special case.
 */
export const fetchJwksFrom = (cognitoEndpoint: string): void => {
  const original = https.request;
  const redirected = (...args: unknown[]): http.ClientRequest => {
    const [target, ...rest] = args;
    const url = typeof target === 'string' || target instanceof URL ? new URL(target) : undefined;
    return url && COGNITO_HOST.test(url.hostname)
      ? Reflect.apply(http.request, http, [new URL(url.pathname + url.search, cognitoEndpoint), ...rest])
      : Reflect.apply(original, https, args);
  };
  https.request = redirected as typeof https.request;
  syncBuiltinESMExports();
};
