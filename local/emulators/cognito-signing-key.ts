import { createPrivateKey, createPublicKey, createSign, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from './atomic-file.ts';

const KEY_ID = 'CognitoLocal';

/** The key pair that tokens of a data folder are signed with. */
export interface SigningKey {
  readonly pem: string;
  /** The public half, as a JSON web key. */
  readonly jwk: object;
  /** The same token with other claims, signed again. */
  withClaims(token: string, claims: object): string;
}

/** Reads the key pair of a file that only this user may read, or makes it. */
export const openSigningKey = (file: string): SigningKey => {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    writeFileAtomically(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600);
  }
  const pem = readFileSync(file, 'utf8');
  const publicKey = createPublicKey(createPrivateKey(pem));
  return {
    pem,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' },
    withClaims: (token, claims) => {
      const [header] = token.split('.');
      const changed = { ...claimsOf(token), ...claims };
      const signed = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
      return `${signed}.${createSign('RSA-SHA256').update(signed).sign(pem, 'base64url')}`;
    },
  };
};

/** Claims of a token, unchecked. */
export const claimsOf = (token: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
