import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  apiTokenPassword,
  isWellFormedAccountKey,
  isWellFormedApiToken,
  newAccountKey,
  newApiToken,
  secretHash,
} from '../../../lambda/domain/accounts/issued-secret.ts';

describe('API tokens', () => {
  it('have a prefix and a checksum, so that one wrong character is noticed', () => {
    const token = newApiToken(randomBytes);
    expect(token).toMatch(/^sat_[0-9A-Za-z]{30}$/);
    expect(isWellFormedApiToken(token)).toBe(true);
    for (let at = 4; at < token.length; at++) {
      const other = token[at] === 'x' ? 'y' : 'x';
      expect(isWellFormedApiToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
    }
  });

  it('are no service keys, and service keys are no API tokens', () => {
    const [token, key] = [newApiToken(randomBytes), newAccountKey(randomBytes)];
    expect(isWellFormedAccountKey(token)).toBe(false);
    expect(isWellFormedApiToken(key)).toBe(false);
    expect(isWellFormedApiToken(key.replace('svc_', 'sat_'))).toBe(false);
  });

  it('have a password in the user pool that the stored hash does not reveal', () => {
    const token = newApiToken(randomBytes);
    expect(apiTokenPassword(token)).toBe(apiTokenPassword(token));
    expect(apiTokenPassword(token)).not.toContain(secretHash(token));
    expect(apiTokenPassword(token)).not.toContain(token);
    expect(apiTokenPassword(newApiToken(randomBytes))).not.toBe(apiTokenPassword(token));
  });
});
